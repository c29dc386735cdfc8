/* Phone numbers with special behaviour: their wa_id differs from the number that was sent to (as
 * with the old prefixes of Brazil and Mexico), or messages to them fail. All calls are made under
 * the lock of the state, those that change it under the write lock. */
#ifndef SANDBOX_NUMBER_H
#define SANDBOX_NUMBER_H

#include "text/json_fields.h"

struct number {
    struct arena *arena; /* of the struct and its texts */
    const char *digits;
    const char *wa_id; /* NULL: the digits themselves */
    int64_t fail_code; /* messages to it end as failed with this error; 0 = they arrive */
    struct number *next;
};

/* Adds a number by {number, waId, failCode}, which hides an older one with the same digits. Returns
 * NULL, or in `arena` the text of an error. */
const char *number_put(struct arena *arena, const cJSON *json);

/* Returns the number with these digits; NULL when it has no special behaviour. */
const struct number *number_find(const char *digits);

/* Returns the wa_id of the user with this number: the digits, unless number_put gave another. */
const char *number_wa_id(const char *digits);

/* Returns the BSUID of the user with these digits, which is derived from them, in `arena`. */
const char *number_bsuid(struct arena *arena, const char *digits);

/* Appends all numbers as bodies of number_put, the oldest first. */
void number_print(struct buffer *out);

/* Deletes all numbers. */
void number_clear(void);

#endif
