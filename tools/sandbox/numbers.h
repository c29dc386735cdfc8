/* Phone numbers with special behaviour: their wa_id differs from the number that was sent to (as
 * with the old prefixes of Brazil and Mexico), or messages to them fail. All calls are made under
 * the state lock. */
#ifndef SANDBOX_NUMBERS_H
#define SANDBOX_NUMBERS_H

#include "json.h"

struct number {
    char *digits;
    char *wa_id;        /* NULL: the digits themselves */
    uint64_t fail_code; /* messages to it end as failed with this error; 0 = they arrive */
    struct number *next;
};

/* Adds or changes a number by {number, waId, failCode}. Returns NULL, or an error text that the
 * caller frees. */
char *number_put(const cJSON *json);

/* Finds a number by its digits; NULL if it has no special behaviour. */
const struct number *number_find(const char *digits);

/* Deletes all numbers. */
void number_clear(void);

#endif
