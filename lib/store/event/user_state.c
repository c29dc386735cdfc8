#include "store/user_state.h"

#include "engine/sql.h"

/* Starts a statement that counts the user's rows, and returns their number. */
static int64_t count(struct store *store, struct statement *s, const char *user_id) {
    int64_t n = 0;
    sql_start(store, s, TEXT(user_id), INTEGER(STORE_USER_STATE_MOST));
    sql_read_one(store, s, NULL, TO_INTEGER(&n));
    return n;
}

enum store_result store_find_user_state(struct store *store, struct arena *arena,
                                        const char *user_id, struct store_user_state *state) {
    static struct statement token = {
        .sql = "SELECT created_at, last4 FROM api_token WHERE user_id = ?1"};
    static struct statement pending = {
        .sql = "SELECT count(*) FROM (SELECT id FROM event WHERE user_id = ?1 "
               "AND state = 'pending' LIMIT ?2) AS waiting"};
    static struct statement dead = {
        .sql = "SELECT count(*) FROM (SELECT id FROM event WHERE user_id = ?1 AND state = 'dead' "
               "AND finished_at IS NOT NULL AND id > '' LIMIT ?2) AS ended"};
    /* ids sort by the time of creation */
    static struct statement oldest = {.sql = "SELECT created_at FROM event WHERE user_id = ?1 "
                                             "AND state = 'pending' ORDER BY id LIMIT 1"};
    *state =
        (struct store_user_state){.token_created_at = INT64_MAX, .oldest_pending_at = INT64_MAX};
    sql_start(store, &token, TEXT(user_id));
    sql_read_one(store, &token, arena, TO_INTEGER(&state->token_created_at),
                 TO_TEXT(&state->token_last4));
    state->pending = count(store, &pending, user_id);
    state->dead = count(store, &dead, user_id);
    sql_start(store, &oldest, TEXT(user_id));
    sql_read_one(store, &oldest, NULL, TO_INTEGER(&state->oldest_pending_at));
    enum store_result result = store_find_first_webhook(store, arena, user_id, &state->first);
    if (result != STORE_OK)
        return result;
    return store_list_webhooks(store, arena, user_id,
                               &(struct store_page){.limit = STORE_USER_STATE_WEBHOOKS},
                               &state->webhooks, &state->webhook_count);
}
