/* Business accounts, their phone numbers and the tokens that open them. All calls under the state
 * lock. */
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
 * displayNumber}]}. Returns NULL or a sentence the caller frees. */
char *account_put(const cJSON *json);

/* By WABA id; by the id of one of its numbers (then also *phone, where asked for). NULL: none. */
struct account *account_by_waba(const char *id);
struct account *account_by_phone(const char *id, const struct phone **phone);

/* The first account, and the next of each. */
struct account *account_first(void);

enum token_state { TOKEN_UNKNOWN, TOKEN_VALID, TOKEN_EXPIRED, TOKEN_REVOKED };

/* What a token is worth; and changing it: {token, state: valid|expired|revoked}. */
enum token_state token_check(const char *token);
char *token_put(const cJSON *json);

/* Appends all accounts as a JSON array. */
void account_list(struct bytes *out);

/* Forgets all accounts and token states. */
void account_clear(void);

#endif
