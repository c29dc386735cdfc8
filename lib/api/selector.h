/* Which business account a request means, where its query may name one (spec 4.4, 4.5, 4.6). */
#ifndef SWITCHBOARD_SELECTOR_H
#define SWITCHBOARD_SELECTOR_H

#include "api/auth.h"

/* The rows that the query table of every route with selectors has. */
#define SELECTOR_FIELDS                                                                            \
    {.name = "phoneNumberId", .type = FIELD_STRING}, {                                             \
        .name = "accountId", .type = FIELD_STRING                                                  \
    }

/* The account that the query's `phoneNumberId` or `accountId` names, else the caller's default
 * account, else the caller's first. Returns 0, or fails: 403 when a selector is not the caller's,
 * 400 when the two name different accounts. Strings live in the request's memory. */
int selector_choose(struct request *rq, struct store_account *account);

/* The accounts to try in turn: the one that the query names; without a selector the default one
 * first and then the others, those without a platform access token left out. Returns 0 with at
 * least one account, or fails as selector_choose. */
int selector_list(struct request *rq, struct store_account **accounts, size_t *count);

#endif
