/* The registration of a number, its PIN and the verification of its ownership. Called under the
 * lock of the state. */
#ifndef SANDBOX_REGISTRATION_H
#define SANDBOX_REGISTRATION_H

#include "state/graph_target.h"

/* POST /{phone-number-id}/register, deregister, request_code and verify_code. */
void registration_register(struct exchange *exchange, const struct target *target);
void registration_deregister(struct exchange *exchange, const struct target *target);
void registration_request_code(struct exchange *exchange, const struct target *target);
void registration_verify_code(struct exchange *exchange, const struct target *target);

/* Sets the PIN of a number. */
void registration_set_pin(struct exchange *exchange, const struct target *target, const char *pin);

/* Whether the number may send; else answers with error 133010. */
bool registration_check(struct exchange *exchange, const char *phone_id);

/* Appends the fields of a number that depend on its registration, each after a comma. */
void registration_print(struct buffer *out, const char *phone_id);

#endif
