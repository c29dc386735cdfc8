/* GET /{phone-number-id} and GET /{waba-id}/phone_numbers. Called under the lock of the state. */
#ifndef SANDBOX_PHONE_NODE_H
#define SANDBOX_PHONE_NODE_H

#include "state/graph_target.h"
#include "wire/node_fields.h"

/* The fields of a number. */
extern const struct node_shape phone_shape;

/* Answers with the number. */
void phone_show(struct exchange *exchange, const struct target *target);

/* Answers with a page of the numbers of an account. */
void phone_list(struct exchange *exchange, const struct target *target);

/* Appends all numbers of an account to `out` as {data: [...]}, each with all its fields. */
void phone_print_all(struct buffer *out, const struct account *account);

#endif
