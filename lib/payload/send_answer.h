/* The platform's answer to a send that it has accepted (spec 2.4). */
#ifndef SWITCHBOARD_SEND_ANSWER_H
#define SWITCHBOARD_SEND_ANSWER_H

#include "base/json.h"

/* The code of the platform's refusal of a recipient who wants no marketing. */
enum { SEND_OPTED_OUT = 131050 };

/* Returns the id of the message, in `arena`; NULL: the answer names none. */
const char *send_answer_wamid(struct arena *arena, struct json answer);

/* Returns the `message_status` of the message, in `arena`: accepted, held_for_quality_assessment or
 * paused; NULL: the answer has none. */
const char *send_answer_status(struct arena *arena, struct json answer);

/* Returns the recipient's phone in the platform's form (`wa_id`), in `arena`; it may differ from
 * the one that was sent. NULL when `wa_id` is not a phone. */
const char *send_answer_phone(struct arena *arena, struct json answer);

#endif
