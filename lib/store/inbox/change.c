#include "store/inbox/change.h"

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

bool change_contact(struct store *store, struct arena *arena, const char *contact_id) {
    static struct statement s = {.sql = "SELECT id, user_id FROM thread WHERE contact_id = ?1"};
    struct buffer rows = buffer_in(arena);
    struct thread_key key;
    sql_start(store, &s, TEXT(contact_id));
    while (sql_row(store, &s)) {
        column_id(&s, 0, key.id);
        column_id(&s, 1, key.user_id);
        buffer_add(&rows, &key, sizeof key);
    }
    const struct thread_key *keys = (const struct thread_key *)(const void *)rows.p;
    for (size_t i = 0; i < rows.n / sizeof *keys; i++) {
        int64_t change;
        if (!change_next(store, keys[i].user_id, &change) ||
            !thread_change(store, keys[i].id, change) || !thread_recount(store, keys[i].id))
            return false;
    }
    return !sql_failed(store);
}
