/* Business accounts and their phone numbers. All calls are made under the lock of the state, those
 * that change it under the write lock. */
#ifndef SANDBOX_ACCOUNT_H
#define SANDBOX_ACCOUNT_H

#include "text/json_fields.h"

enum { PHONES_MAX = 16 };

struct phone {
    const char *id;
    const char *display; /* digits, as webhooks carry it */
};

struct account {
    struct arena *arena; /* of the account and its texts */
    const char *token;
    const char *waba_id;
    const char *name; /* or NULL */
    struct phone phones[PHONES_MAX];
    size_t phone_count;
    struct account *next;
};

/* Adds an account, or changes the one with that wabaId: {token, wabaId, name, phones: [{id,
 * displayNumber}]}. Returns NULL, or in `arena` the text of an error; then nothing is changed. */
const char *account_put(struct arena *arena, const cJSON *json);

/* Returns the account with this WABA id, or NULL. */
const struct account *account_by_waba(const char *id);

/* Returns the account that has the number with this id, and sets `*phone` (unless `phone` is NULL)
 * to that number; NULL when there is none. */
const struct account *account_by_phone(const char *id, const struct phone **phone);

/* Returns the account with this access token, or NULL. */
const struct account *account_by_token(const char *token);

/* Returns the first account, or NULL; `next` leads to the others. */
const struct account *account_first(void);

/* Returns the account's name, "" when it has none. */
const char *account_name(const struct account *account);

/* Appends all accounts as a JSON array. */
void account_list(struct buffer *out);

/* Appends all accounts as bodies of account_put. */
void account_print(struct buffer *out);

/* Deletes all accounts. */
void account_clear(void);

#endif
