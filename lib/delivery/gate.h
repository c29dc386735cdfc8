/* The turns of webhooks at a limit on the attempts in flight (spec 6).
 *
 * When more webhooks want slots than a limit allows, they take turns in the order of their ids, and
 * the one that was refused first is the next. */
#ifndef SWITCHBOARD_DELIVERY_GATE_H
#define SWITCHBOARD_DELIVERY_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct gate {
    char last[ID_SIZE];  /* the webhook that had the last turn */
    char next[ID_SIZE];  /* the first webhook after `last` that was refused; "": none */
    uint64_t refused_in; /* the pass of that refusal; a whole pass later the turn is lost */
};

/* Returns whether the webhook, which has `load` attempts in flight, may have one more; `has_room`:
 * the limit allows one more. One that has no attempt in flight and is refused gets the next turn,
 * unless another webhook has it. `pass` is the number of the pass over all waiting webhooks. */
bool gate_admits(struct gate *gate, bool has_room, const char *webhook_id, size_t load,
                 uint64_t pass);

/* Ends the turn of the webhook, which got its attempt. */
void gate_enter(struct gate *gate, const char *webhook_id, size_t load);

/* Ends the turn of the webhook, which another limit refuses, so that it keeps nothing from others.
 */
void gate_forgo(struct gate *gate, const char *webhook_id);

#endif
