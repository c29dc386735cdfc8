#include "api/selector.h"

static int find_account(struct request *rq, const char *id, struct store_account *account) {
    struct store_account *accounts;
    size_t count;
    if (auth_list_accounts(rq, &accounts, &count))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (strcmp(accounts[i].id, id) == 0) {
            *account = accounts[i];
            return 0;
        }
    return fail(rq, FORBIDDEN,
                "accountId is not a business account of this token; see GET /v2/me.");
}

/* Finds the account that the query selects. Returns 1 when there is a selector, 0 when there is
 * none, or -1 after failing the request. */
static int named_account(struct request *rq, struct store_account *account) {
    struct slice phone_number_id = query_get(&rq->query, "phoneNumberId");
    struct slice account_id = query_get(&rq->query, "accountId");
    if (account_id.p && find_account(rq, account_id.p, account))
        return -1;
    if (!phone_number_id.p)
        return account_id.p ? 1 : 0;
    if (auth_choose_line(rq, phone_number_id.p))
        return -1;
    if (account_id.p && strcmp(account->id, rq->caller->line.account_id) != 0)
        return fail(rq, INVALID,
                    "phoneNumberId and accountId name different business accounts; send one of "
                    "them.");
    *account = rq->caller->line.account;
    return 1;
}

/* All accounts of the caller, the default one first. */
static int list_accounts(struct request *rq, struct store_account **accounts, size_t *count) {
    if (auth_list_accounts(rq, accounts, count))
        return -1;
    if (!*count) /* deleted since the guard checked */
        return fail(rq, NOT_FOUND, "No messaging account is linked.");
    for (size_t i = 1; i < *count; i++) {
        struct store_account account = (*accounts)[i];
        if (!account.is_default)
            continue;
        memmove(*accounts + 1, *accounts, i * sizeof account);
        **accounts = account;
    }
    return 0;
}

int selector_choose(struct request *rq, struct store_account *account) {
    struct store_account *accounts;
    size_t count;
    int named = named_account(rq, account);
    if (named)
        return named < 0 ? -1 : 0;
    if (list_accounts(rq, &accounts, &count))
        return -1;
    *account = accounts[0];
    return 0;
}

int selector_list(struct request *rq, struct store_account **accounts, size_t *count) {
    struct store_account *named = arena_alloc(rq->arena, sizeof *named);
    int found = named_account(rq, named);
    if (found) {
        *accounts = named;
        *count = 1;
        return found < 0 ? -1 : 0;
    }
    size_t all, kept = 0;
    if (list_accounts(rq, accounts, &all))
        return -1;
    for (size_t i = 0; i < all; i++)
        if ((*accounts)[i].sealed_token.n)
            (*accounts)[kept++] = (*accounts)[i];
    *count = kept;
    return kept ? 0
                : fail(rq, NOT_FOUND,
                       "No messaging account with a platform access token is linked.");
}
