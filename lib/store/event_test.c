#include "store/event_test.h"

#include "store/outbox_entry.h"

enum store_result store_insert_test_event(struct store *store, struct arena *arena,
                                          const char *user_id, const char *id, int64_t now,
                                          event_writer *write) {
    struct store_event event = {.type = TEST_EVENT_TYPE, .user_id = user_id, .now = now};
    bool is_set = false;
    if (sql_begin(store)) {
        sql_lock(store, LOCK_USER, NULL, &user_id, 1);
        is_set = !sql_failed(store) && outbox_has_target(store, user_id);
        if (is_set)
            outbox_add(store, arena, &event, id, write);
    }
    enum store_result result = sql_commit(store);
    return result == STORE_OK && !is_set ? STORE_CONFLICT : result;
}
