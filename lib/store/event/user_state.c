#include "store/user_state.h"

#include "engine/sql.h"

static void read_token(struct store *store, struct arena *arena, const char *user_id,
                       struct store_user_state *state) {
    static struct statement s = {.sql =
                                     "SELECT created_at, last4 FROM api_token WHERE user_id = ?1"};
    sql_start(store, &s, TEXT(user_id));
    if (!sql_row(store, &s))
        return;
    state->token_created_at = column_integer(&s, 0);
    state->token_last4 = column_text(&s, 1, arena);
    sql_stop(&s);
}

/* Starts a statement that counts the user's rows, and returns their number. */
static int64_t count(struct store *store, struct statement *s, const char *user_id) {
    sql_start(store, s, TEXT(user_id), INTEGER(STORE_USER_STATE_MOST));
    if (!sql_row(store, s))
        return 0;
    const int64_t n = column_integer(s, 0);
    sql_stop(s);
    return n;
}

/* Ids sort by the time of creation. */
static void read_oldest(struct store *store, const char *user_id, struct store_user_state *state) {
    static struct statement s = {.sql = "SELECT created_at FROM event WHERE user_id = ?1 "
                                        "AND state = 'pending' ORDER BY id LIMIT 1"};
    sql_start(store, &s, TEXT(user_id));
    if (!sql_row(store, &s))
        return;
    state->oldest_pending_at = column_integer(&s, 0);
    sql_stop(&s);
}

enum store_result store_find_user_state(struct store *store, struct arena *arena,
                                        const char *user_id, struct store_user_state *state) {
    static struct statement pending = {
        .sql = "SELECT count(*) FROM (SELECT id FROM event WHERE user_id = ?1 "
               "AND state = 'pending' LIMIT ?2) AS waiting"};
    static struct statement dead = {
        .sql = "SELECT count(*) FROM (SELECT id FROM event WHERE user_id = ?1 AND state = 'dead' "
               "AND finished_at IS NOT NULL AND id > '' LIMIT ?2) AS ended"};
    *state =
        (struct store_user_state){.token_created_at = INT64_MAX, .oldest_pending_at = INT64_MAX};
    read_token(store, arena, user_id, state);
    state->pending = count(store, &pending, user_id);
    state->dead = count(store, &dead, user_id);
    read_oldest(store, user_id, state);
    enum store_result result = store_find_first_webhook(store, arena, user_id, &state->first);
    if (result != STORE_OK)
        return result;
    return store_list_webhooks(store, arena, user_id,
                               &(struct store_page){.limit = STORE_USER_STATE_WEBHOOKS},
                               &state->webhooks, &state->webhook_count);
}
