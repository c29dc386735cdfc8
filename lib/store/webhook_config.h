/* The outbound webhook of a user (spec 2.8, 4.7). */
#ifndef SWITCHBOARD_STORE_WEBHOOK_H
#define SWITCHBOARD_STORE_WEBHOOK_H

#include "store/store.h"

enum { WEBHOOK_CODE_OVERLAP_MS = 24 * 60 * 60 * 1000 }; /* a replaced code still signs so long */

struct store_webhook {
    const char *url;          /* "" when unset */
    struct slice sealed_code; /* n == 0 when unset; its place: webhook_code_context */
};

/* The user's configuration; one that was never made is unset, not STORE_NOT_FOUND. */
enum store_result store_get_webhook(struct store *store, struct arena *arena, const char *user_id,
                                    struct store_webhook *webhook);

/* Sets URL and code; `code` NULL keeps the code. A replaced code goes on signing for 24 h. Deliveries that were suspended go on, and what is pending is due at once. */
enum store_result store_set_webhook(struct store *store, const char *user_id, const char *url,
                                    const struct store_secret *code, int64_t now);

/* Replaces the code alone. */
enum store_result store_set_webhook_code(struct store *store, const char *user_id,
                                         const struct store_secret *code, int64_t now);

/* Unsets URL and codes; events that wait for delivery are cancelled. */
enum store_result store_clear_webhook(struct store *store, const char *user_id, int64_t now);

#endif
