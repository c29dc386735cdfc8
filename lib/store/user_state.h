/* The state of a user's webhooks and API token, as one call. */
#ifndef SWITCHBOARD_STORE_USER_STATE_H
#define SWITCHBOARD_STORE_USER_STATE_H

#include "store/user_webhook.h"

enum { STORE_USER_STATE_MOST = 10000, STORE_USER_STATE_WEBHOOKS = 100 };

/* Times are INT64_MAX where there is none. */
struct store_user_state {
    int64_t token_created_at;
    const char *token_last4;    /* its last characters; NULL: not known */
    struct store_webhook first; /* store_find_first_webhook */
    int64_t pending, dead;      /* events; STORE_USER_STATE_MOST: that many or more */
    int64_t oldest_pending_at;
    struct store_webhook *webhooks; /* the oldest STORE_USER_STATE_WEBHOOKS */
    size_t webhook_count;
};

enum store_result store_find_user_state(struct store *store, struct arena *arena,
                                        const char *user_id, struct store_user_state *state);

#endif
