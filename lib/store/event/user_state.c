#include "store/user_state.h"

#include "engine/row.h"

/* Starts a statement that counts the user's rows, and returns their number. */
static int64_t count(struct store *store, struct statement *s, const char *user_id) {
    sql_start(store, s, TEXT(user_id), INTEGER(STORE_USER_STATE_MOST));
    return row_integer(store, s, 0);
}

#define OF(member) ROW_MEMBER(struct store_user_state, member)
static const struct row_layout token_layout =
    ROW_LAYOUT(struct store_user_state, OF(token_created_at), OF(token_last4));

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
    *state = (struct store_user_state){.token_created_at = INT64_MAX};
    sql_start(store, &token, TEXT(user_id));
    row_find(store, &token, arena, &token_layout, state);
    state->pending = count(store, &pending, user_id);
    state->dead = count(store, &dead, user_id);
    sql_start(store, &oldest, TEXT(user_id));
    state->oldest_pending_at = row_integer(store, &oldest, INT64_MAX);
    enum store_result result = store_find_first_webhook(store, arena, user_id, &state->first);
    if (result != STORE_OK)
        return result;
    return store_list_webhooks(store, arena, user_id,
                               &(struct store_page){.limit = STORE_USER_STATE_WEBHOOKS},
                               &state->webhooks, &state->webhook_count);
}
