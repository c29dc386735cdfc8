/* People in JSON: in answers, events and lists of the CLI. */
#ifndef SWITCHBOARD_PERSON_JSON_H
#define SWITCHBOARD_PERSON_JSON_H

#include "base/json.h"
#include "store/actor.h"
#include "store/contact.h"
#include "store/opt_out.h"

/* Writes the members `phone`, `userId` and those of the profile of a contact into the open object;
 * null: not known. */
void contact_write_person(struct json_writer *w, const struct contact *contact);

/* Writes these members and `id` as the member `contact`; null for a contact without an id. */
void contact_json_write(struct json_writer *w, const struct contact *contact);

/* Writes who did something, as the member `name`: `{id, name}`, or null for an actor without an id.
 */
void actor_json_write(struct json_writer *w, const char *name, const struct actor *actor);

/* Writes who gets no marketing: `{identity, source, since}`, a value of the open array. */
void opt_out_json_write(struct json_writer *out, const struct store_opt_out *row);

#endif
