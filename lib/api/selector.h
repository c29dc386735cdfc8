/* Selects the business account of a request whose query may name one (spec 4.4, 4.5, 4.6). */
#ifndef SWITCHBOARD_SELECTOR_H
#define SWITCHBOARD_SELECTOR_H

#include "api/auth.h"

/* The fields of the selectors, for the query table of a route. */
#define SELECTOR_FIELDS                                                                            \
    {.name = "phoneNumberId", .type = FIELD_STRING}, {                                             \
        .name = "accountId", .type = FIELD_STRING                                                  \
    }

/* Sets `*account` to the account that the query's `phoneNumberId` or `accountId` names; without
 * selector, to the caller's default account, or the first one if none is the default. Returns 0, or
 * -1 after failing the request: 403 when a selector belongs to another user, 400 when the two name
 * different accounts. Strings live in the request's memory. */
int selector_choose(struct request *rq, struct store_account *account);

/* Lists the accounts to try in turn: the one that the query names; without selector, all accounts
 * of the caller with a platform access token, the default one first. Returns 0 with at least one
 * account, or -1 after failing the request as selector_choose does. */
int selector_list(struct request *rq, struct store_account **accounts, size_t *count);

#endif
