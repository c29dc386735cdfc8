/* The recipient of a send: a phone number in any spelling, or a business-scoped user id (BSUID). */
#ifndef SANDBOX_ADDRESSEE_H
#define SANDBOX_ADDRESSEE_H

#include <cjson/cJSON.h>

#include "base/arena.h"

/* Whether `text` (or NULL) has the form of a BSUID: CC.alnum or CC.ENT.alnum. */
bool is_bsuid(const char *text);

/* Whether the send with the body `body` (or NULL) goes to `recipient`: a BSUID, or a phone number
 * in any spelling. `arena` takes temporary texts. */
bool send_is_for(struct arena *arena, const cJSON *body, const char *recipient);

#endif
