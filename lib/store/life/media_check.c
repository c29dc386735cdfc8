/* The check of the archive of media against its rows: after a restoration, or the loss of a disk.
 */
#include "engine/row.h"
#include "store/media_copy.h"

#define OF(member) ROW_MEMBER(struct store_media_copy, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_media_copy, OF(message_id), OF(user_id), OF(month), OF(sha256),
               OF(size), OF(created_at));

enum store_result store_list_kept_media(struct store *store, struct arena *arena, const char *after,
                                        size_t limit, struct store_media_copy **rows,
                                        size_t *count) {
    static struct statement s = {
        .sql = "SELECT message_id, user_id, month, sha256, size, created_at FROM media_copy "
               "WHERE state = 'done' AND message_id > ?1 ORDER BY message_id LIMIT ?2"};
    sql_start(store, &s, TEXT(after), INTEGER((int64_t)limit));
    *rows = row_list(store, &s, arena, &layout, count);
    return sql_result(store);
}

/* A row that is not done yet may name a file, too: its sender was killed before the commit. */
static bool is_named(struct store *store, const struct store_media_copy *file) {
    static struct statement whole = {.sql = "SELECT 1 FROM media_copy WHERE user_id = ?1 "
                                            "AND sha256 = ?2 AND month = ?3 LIMIT 1"};
    static struct statement part = {
        .sql = "SELECT 1 FROM media_copy WHERE user_id = ?1 AND message_id = ?2 AND month = ?3 "
               "AND state IN ('queued', 'removed')"};
    struct statement *s = file->sha256 ? &whole : &part;
    sql_start(store, s, TEXT(file->user_id), TEXT(file->sha256 ? file->sha256 : file->message_id),
              TEXT(file->month));
    return row_exists(store, s);
}

enum store_result store_find_media_file(struct store *store, const struct store_media_copy *file) {
    return sql_found(store, is_named(store, file));
}

/* Locks the lease's row: a sender names the file in its row before it places it. */
static bool lock_out_senders(struct store *store) {
    static struct statement s = {
        .sql = "UPDATE sender_lease SET lease_until = lease_until WHERE id = ?1"};
    return sql_run(store, &s, INTEGER(1));
}

enum store_result store_drop_media_file(struct store *store, const struct store_media_copy *file,
                                        bool (*remove)(void *context), void *context, bool *done) {
    *done = false;
    while (sql_transact(store))
        if (lock_out_senders(store) && !is_named(store, file) && !sql_failed(store))
            *done = remove(context) || *done;
    return sql_result(store);
}

enum store_result store_repeat_media_copy(struct store *store, const char *message_id,
                                          int64_t now) {
    static struct statement s = {
        .sql = "UPDATE media_copy SET state = 'queued', size = NULL, attempts = 0, "
               "next_attempt_at = ?2, created_at = ?2 WHERE message_id = ?1 AND state = 'done'"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(message_id), INTEGER(now));
    return sql_result(store);
}
