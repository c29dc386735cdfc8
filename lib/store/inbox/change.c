#include "store/inbox/change.h"

#include "engine/row.h"
#include "store/count/user_number.h"
#include "store/inbox/thread.h"

bool change_next(struct store *store, const char *user_id, int64_t *change) {
    return user_number_next(store, user_id, NUMBER_CHANGE, change);
}

bool change_thread_of(struct store *store, const char *user_id, const char *line_id,
                      const char *contact_id) {
    static struct statement s = {
        .sql = "SELECT t.id FROM thread t WHERE t.line_id = ?1 AND t.contact_id = ?2"};
    char id[ID_SIZE];
    int64_t change;
    if (!change_next(store, user_id, &change))
        return false;
    sql_start(store, &s, TEXT(line_id), TEXT(contact_id));
    return sql_read_id(store, &s, id)
               ? thread_change(store, id, change) && thread_recount(store, id)
               : !sql_failed(store);
}

struct thread_key {
    char id[ID_SIZE], user_id[ID_SIZE];
};

static const struct row_layout key_layout = ROW_LAYOUT(
    struct thread_key, ROW_MEMBER(struct thread_key, id), ROW_MEMBER(struct thread_key, user_id));

bool change_contact(struct store *store, struct arena *arena, const char *contact_id) {
    static struct statement s = {.sql = "SELECT id, user_id FROM thread WHERE contact_id = ?1"};
    size_t count;
    sql_start(store, &s, TEXT(contact_id));
    const struct thread_key *keys = row_list(store, &s, arena, &key_layout, &count);
    for (size_t i = 0; i < count; i++) {
        int64_t change;
        if (!change_next(store, keys[i].user_id, &change) ||
            !thread_change(store, keys[i].id, change) || !thread_recount(store, keys[i].id))
            return false;
    }
    return !sql_failed(store);
}
