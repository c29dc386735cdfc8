/* The first webhook of a user, the oldest one of the kind event: the routes of the configuration
 * read and change it (spec 2.8, 4.7). user_webhook.h has all of them. */
#ifndef SWITCHBOARD_STORE_FIRST_WEBHOOK_H
#define SWITCHBOARD_STORE_FIRST_WEBHOOK_H

#include "store/store.h"

struct store_webhook_config {
    const char *url;          /* "" when unset */
    struct slice sealed_code; /* n == 0 when unset; sealed with webhook_code_context */
};

/* Reads the user's configuration; a user without one gets an unset one, not STORE_NOT_FOUND. */
enum store_result store_find_webhook_config(struct store *store, struct arena *arena,
                                            const char *user_id,
                                            struct store_webhook_config *webhook);

/* Sets URL and code; `code` NULL keeps the code. Inserts a webhook if there is none. A replaced
 * code still signs for 24 h. Ends the webhook's suspension and makes the pending events due. */
enum store_result store_upsert_webhook_config(struct store *store, const char *user_id,
                                              const char *url, const struct store_secret *code,
                                              int64_t now);

/* Replaces only the code, or inserts a webhook with only a code. The former one still signs for 24
 * h. */
enum store_result store_upsert_webhook_config_code(struct store *store, const char *user_id,
                                                   const struct store_secret *code, int64_t now);

/* Deletes URL and codes and cancels the pending deliveries; the webhook stays. */
enum store_result store_delete_webhook_config(struct store *store, const char *user_id,
                                              int64_t now);

#endif
