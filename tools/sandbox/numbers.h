/* Phone numbers that are not as others: known by another wa_id than what was dialled (as with the
 * old prefixes of Brazil and Mexico), or out of reach. All calls under the state lock. */
#ifndef SANDBOX_NUMBERS_H
#define SANDBOX_NUMBERS_H

#include "json.h"

struct number {
    char *digits;
    char *wa_id;        /* NULL: the digits themselves */
    uint64_t fail_code; /* messages to it end as failed with this error; 0 = they arrive */
    struct number *next;
};

/* Notes what {number, waId, failCode} says. NULL, or a sentence the caller frees. */
char *number_put(const cJSON *json);

/* What is noted of a number given as digits; NULL when nothing is. */
const struct number *number_find(const char *digits);

/* Forgets all. */
void number_clear(void);

#endif
