#include "store/event_test.h"

#include "store/deed.h"
#include "store/event/event_entry.h"

/* A webhook; one that is named and paused is not `is_set`: the test would wait until it is resumed.
 */
struct target {
    char id[ID_SIZE];
    bool is_set, is_forward;
};
#define OF(member) ROW_MEMBER(struct target, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct target, OF(id), OF(is_set), OF(is_forward));

/* Finds the webhook, or the first one with `id` NULL; false when there is none, or on failure. */
static bool find_webhook(struct store *store, const char *user_id, const char *id,
                         struct target *target) {
    static struct statement s = {
        .sql = "SELECT w.id, CASE WHEN " WEBHOOK_IS_SET " AND (w.paused_at IS NULL OR ?2 IS NULL) "
               "THEN 1 ELSE 0 END, w.kind = 'forward' "
               "FROM webhook w WHERE w.id = coalesce(?2, " WEBHOOK_FIRST ") "
               "AND w.user_id = ?1 AND w.deleted_at IS NULL"};
    sql_start(store, &s, TEXT(user_id), TEXT(id));
    return row_find(store, &s, NULL, &layout, target);
}

/* Whether the event is stored already, by a call that is repeated. */
static bool is_known(struct store *store, const char *id) {
    static struct statement s = {.sql = "SELECT 1 FROM event WHERE id = ?1"};
    sql_start(store, &s, TEXT(id));
    return row_exists(store, &s);
}

enum store_result store_insert_test_event(struct store *store, struct arena *arena,
                                          const char *user_id, const char *webhook_id,
                                          const char *id, int64_t now, event_writer *write) {
    struct target target;
    bool is_found = false;
    while (sql_transact(store)) {
        struct store_event event = {.type = TEST_EVENT_TYPE, .user_id = user_id, .now = now};
        target.is_set = false;
        sql_lock(store, LOCK_USER, NULL, &user_id, 1);
        is_found = !sql_failed(store) && find_webhook(store, user_id, webhook_id, &target);
        event.is_forward = is_found && target.is_forward;
        if (target.is_set && !is_known(store, id) &&
            outbox_add(store, arena, &event, id, write, NULL))
            outbox_deliver(store, &event, id, target.id, NULL);
        if (target.is_set)
            store_trail(store, user_id, target.id);
    }
    enum store_result result = sql_result(store);
    if (result == STORE_OK && !is_found && webhook_id)
        return STORE_NOT_FOUND;
    return result == STORE_OK && !target.is_set ? STORE_CONFLICT : result;
}
