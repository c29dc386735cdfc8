/* Business accounts, their phone numbers and their access tokens. All calls are made under the
 * state lock. */
#ifndef SANDBOX_ACCOUNTS_H
#define SANDBOX_ACCOUNTS_H

#include "json.h"

enum { PHONES_MAX = 16 };

struct phone {
    char *id;
    char *display; /* digits, as webhooks carry it */
};

struct account {
    char *token;
    char *waba_id;
    char *name;
    struct phone phones[PHONES_MAX];
    size_t phone_count;
    struct account *next;
};

/* Adds an account, or changes the one with that wabaId: {token, wabaId, name, phones: [{id,
 * displayNumber}]}. Returns NULL, or an error text that the caller frees. */
char *account_put(const cJSON *json);

/* Finds an account by its WABA id, or by the id of one of its numbers; then *phone is that number
 * (`phone` may be NULL). Returns NULL if there is none. */
struct account *account_by_waba(const char *id);
struct account *account_by_phone(const char *id, const struct phone **phone);

/* Iterates over the accounts: the first one, and the one after an account; NULL at the end. */
struct account *account_first(void);

enum token_state { TOKEN_UNKNOWN, TOKEN_VALID, TOKEN_EXPIRED, TOKEN_REVOKED };

/* Returns the state of a token; sets it from {token, state: valid|expired|revoked}, and returns
 * NULL or an error text that the caller frees. */
enum token_state token_check(const char *token);
char *token_put(const cJSON *json);

/* Appends all accounts as a JSON array. */
void account_list(struct bytes *out);

/* Deletes all accounts and token states. */
void account_clear(void);

#endif
