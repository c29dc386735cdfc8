/* The JSON of who did something. */
#ifndef SWITCHBOARD_ACTOR_JSON_H
#define SWITCHBOARD_ACTOR_JSON_H

#include "base/json.h"
#include "store/actor.h"

/* Writes the member `name`: `{id, name}`, or null for an actor without an id. */
void actor_json_write(struct json_writer *w, const char *name, const struct actor *actor);

#endif
