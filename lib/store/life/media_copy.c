#include "store/media_copy.h"

#include <stdio.h>

#include "base/clock.h"
#include "engine/row.h"
#include "store/backlog.h"

#define COPY_COLUMNS                                                                               \
    "c.message_id, c.user_id, c.account_id, c.media_id, c.month, c.sha256, c.type, "               \
    "coalesce(c.size, -1), c.attempts, c.created_at, c.state = 'removed'"

#define OF(member) ROW_MEMBER(struct store_media_copy, member)
#define COPY_MEMBERS                                                                               \
    OF(message_id), OF(user_id), OF(account_id), OF(media_id), OF(month), OF(sha256), OF(type),    \
        OF(size), OF(attempts), OF(created_at), OF(is_removed)
static const struct row_layout copy_layout = ROW_LAYOUT(struct store_media_copy, COPY_MEMBERS);
static const struct row_layout listed_layout =
    ROW_LAYOUT(struct store_media_copy, COPY_MEMBERS, OF(sealed_token));

enum store_result store_list_media_copies(struct store *store, struct arena *arena, int64_t now,
                                          size_t limit, struct store_media_copy **rows,
                                          size_t *count) {
    static struct statement s = {
        .sql = "SELECT " COPY_COLUMNS ", a.access_token FROM media_copy c "
               "JOIN account a ON a.id = c.account_id WHERE c.next_attempt_at <= ?1 "
               "ORDER BY c.next_attempt_at LIMIT ?2"};
    sql_start(store, &s, INTEGER(now), INTEGER((int64_t)limit));
    *rows = row_list(store, &s, arena, &listed_layout, count);
    return sql_result(store);
}

enum store_result store_find_same_media(struct store *store, const struct store_media_copy *row,
                                        char month[MEDIA_MONTH_SIZE]) {
    static struct statement s = {
        .sql = "SELECT month FROM media_copy WHERE user_id = ?1 AND sha256 = ?2 "
               "AND state = 'done' LIMIT 1"};
    char found[ID_SIZE];
    sql_start(store, &s, TEXT(row->user_id), TEXT(row->sha256));
    const bool is_found = sql_read_id(store, &s, found);
    if (is_found)
        snprintf(month, MEDIA_MONTH_SIZE, "%.7s", found);
    return sql_found(store, is_found);
}

bool media_copy_queue(struct store *store, const struct store_media_copy *copy, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO media_copy (message_id, user_id, account_id, media_id, month, sha256, "
               "type, state, next_attempt_at, created_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'queued', ?8, ?8) "
               "ON CONFLICT (message_id) DO NOTHING"};
    char date[CLOCK_ISO8601_SIZE], month[MEDIA_MONTH_SIZE];
    clock_format(now, date);
    snprintf(month, sizeof month, "%.4s/%.2s", date, date + 5);
    return sql_run_later(store, &s, TEXT(copy->message_id), TEXT(copy->user_id),
                         TEXT(copy->account_id), TEXT(copy->media_id), TEXT(month),
                         TEXT(copy->sha256), TEXT(copy->type), INTEGER(now));
}

/* --- steps of the sender --- */

/* Whether the owner has the lease. Its row is locked by that until the end of the transaction, so
 * that no other sender touches the files meanwhile. */
static bool has_lease(struct store *store, const struct media_copy_step *step) {
    static struct statement s = {.sql = "UPDATE sender_lease SET lease_until = lease_until "
                                        "WHERE id = 1 AND owner = ?1 AND lease_until > ?2"};
    return row_write(store, &s, TEXT(step->owner), INTEGER(step->now));
}

enum store_result store_begin_media_copy(struct store *store, struct media_copy_step *step) {
    static struct statement s = {.sql = "UPDATE media_copy SET attempts = attempts + 1 "
                                        "WHERE message_id = ?1 AND state = 'queued'"};
    while (sql_transact(store))
        step->done = has_lease(store, step) && row_write(store, &s, TEXT(step->row->message_id));
    return sql_result(store);
}

enum store_result store_name_media_copy(struct store *store, struct media_copy_step *step) {
    static struct statement s = {
        .sql = "UPDATE media_copy SET month = ?2, sha256 = ?3, type = coalesce(?4, type) "
               "WHERE message_id = ?1 AND state = 'queued'"};
    const struct store_media_copy *row = step->row;
    while (sql_transact(store))
        step->done =
            has_lease(store, step) && row_write(store, &s, TEXT(row->message_id), TEXT(row->month),
                                                TEXT(row->sha256), TEXT(row->type));
    return sql_result(store);
}

enum store_result store_place_media_copy(struct store *store, struct media_copy_step *step,
                                         bool (*place)(void *context), void *context) {
    static struct statement s = {
        .sql = "UPDATE media_copy SET state = 'done', size = ?2, next_attempt_at = NULL "
               "WHERE message_id = ?1 AND state = 'queued'"};
    bool is_refused = false;
    while (sql_transact(store)) {
        step->done = is_refused = false;
        if (!has_lease(store, step) ||
            !row_write(store, &s, TEXT(step->row->message_id), INTEGER(step->row->size)))
            continue;
        step->done = place(context);
        if ((is_refused = !step->done))
            sql_abandon(store);
    }
    const enum store_result result = sql_result(store);
    return is_refused ? STORE_OK : result;
}

enum store_result store_delay_media_copy(struct store *store, struct media_copy_step *step,
                                         const char *state, int64_t next_at) {
    static struct statement s = {.sql = "UPDATE media_copy SET state = ?2, next_attempt_at = ?3 "
                                        "WHERE message_id = ?1 AND state = 'queued'"};
    while (sql_transact(store))
        step->done = has_lease(store, step) && row_write(store, &s, TEXT(step->row->message_id),
                                                         TEXT(state ? state : "queued"),
                                                         state ? NO_INTEGER : INTEGER(next_at));
    return sql_result(store);
}

/* Whether a row of another message names the file. */
static bool is_shared(struct store *store, const struct store_media_copy *row) {
    static struct statement s = {
        .sql = "SELECT 1 FROM media_copy WHERE user_id = ?1 AND sha256 = ?2 AND month = ?3 "
               "AND state = 'done' LIMIT 1"};
    sql_start(store, &s, TEXT(row->user_id), TEXT(row->sha256), TEXT(row->month));
    return row_exists(store, &s);
}

/* A file that cannot be removed is tried again later, not at each look. */
static enum store_result delay_removal(struct store *store, const struct media_copy_step *step) {
    enum { AGAIN_MS = 60 * 1000 };
    static struct statement s = {.sql = "UPDATE media_copy SET next_attempt_at = ?2 "
                                        "WHERE message_id = ?1 AND state = 'removed'"};
    while (sql_transact(store))
        if (has_lease(store, step))
            sql_run(store, &s, TEXT(step->row->message_id), INTEGER(step->now + AGAIN_MS));
    return sql_result(store);
}

enum store_result store_remove_media_copy(struct store *store, struct media_copy_step *step,
                                          bool (*remove)(void *context, bool is_shared),
                                          void *context) {
    static struct statement s = {
        .sql = "DELETE FROM media_copy WHERE message_id = ?1 AND state = 'removed'"};
    bool is_refused = false;
    while (sql_transact(store)) {
        step->done = is_refused = false;
        if (!has_lease(store, step))
            continue;
        const bool stays = is_shared(store, step->row);
        if (sql_failed(store) || !row_write(store, &s, TEXT(step->row->message_id)))
            continue;
        step->done = remove(context, stays);
        if ((is_refused = !step->done))
            sql_abandon(store);
    }
    const enum store_result result = sql_result(store);
    return is_refused ? delay_removal(store, step) : result;
}

/* --- the reader --- */

enum store_result store_find_media_copy(struct store *store, struct arena *arena,
                                        const char *account_id, const char *media_id,
                                        struct store_media_copy *copy) {
    static struct statement s = {.sql = "SELECT " COPY_COLUMNS " FROM media_copy c "
                                        "WHERE c.account_id = ?1 AND c.media_id = ?2 "
                                        "AND c.state = 'done' LIMIT 1"};
    sql_start(store, &s, TEXT(account_id), TEXT(media_id));
    return sql_found(store, row_find(store, &s, arena, &copy_layout, copy));
}

enum store_result store_count_media_copies(struct store *store,
                                           struct store_media_backlog *backlog) {
    static struct statement s = {
        .sql = "SELECT count(CASE WHEN state = 'queued' THEN 1 END), "
               "count(CASE WHEN state = 'removed' THEN 1 END), "
               "min(CASE WHEN state = 'queued' THEN created_at END) "
               "FROM (SELECT state, created_at FROM media_copy WHERE next_attempt_at IS NOT NULL "
               "ORDER BY next_attempt_at LIMIT ?1) AS waiting"};
    *backlog = (struct store_media_backlog){.oldest_at = INT64_MAX};
    sql_start(store, &s, INTEGER(STORE_BACKLOG_MOST));
    if (sql_row(store, &s)) {
        backlog->queued = column_integer(&s, 0);
        backlog->removed = column_integer(&s, 1);
        backlog->oldest_at = column_time(&s, 2);
        sql_stop(&s);
    }
    return sql_result(store);
}
