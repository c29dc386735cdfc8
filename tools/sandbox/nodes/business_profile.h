/* The business profile of a number. Called under the lock of the state. */
#ifndef SANDBOX_BUSINESS_PROFILE_H
#define SANDBOX_BUSINESS_PROFILE_H

#include "state/graph_target.h"

/* GET and POST /{phone-number-id}/whatsapp_business_profile. */
void profile_show(struct exchange *exchange, const struct target *target);
void profile_change(struct exchange *exchange, const struct target *target);

/* Appends the profile as {data: [...]}. */
void profile_print(struct buffer *out, const char *phone_id);

#endif
