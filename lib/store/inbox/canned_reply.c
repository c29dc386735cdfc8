#include "store/canned_reply.h"

#include "engine/row.h"
#include "store/deed.h"

#define COLUMNS "SELECT id, shortcut, text, by_id, by_name, created_at, updated_at FROM reply "

#define OF(member) ROW_MEMBER(struct store_canned_reply, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_canned_reply, OF(id), OF(shortcut), OF(text), OF(by.id), OF(by.name),
               OF(created_at), OF(updated_at));

enum store_result store_list_canned_replies(struct store *store, struct arena *arena,
                                            const char *user_id, const char *after, size_t limit,
                                            struct store_canned_reply **replies, size_t *count) {
    static struct statement s = {.sql = COLUMNS "WHERE user_id = ?1 AND shortcut > ?2 "
                                                "ORDER BY shortcut LIMIT ?3"};
    sql_start(store, &s, TEXT(user_id), TEXT(after ? after : ""), INTEGER((int64_t)limit));
    *replies = row_list(store, &s, arena, &layout, count);
    return sql_result(store);
}

enum store_result store_find_canned_reply(struct store *store, struct arena *arena,
                                          const char *user_id, const char *id,
                                          struct store_canned_reply *reply) {
    static struct statement s = {.sql = COLUMNS "WHERE id = ?1 AND user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    return sql_found(store, row_find(store, &s, arena, &layout, reply));
}

/* Whether the user has room for one more than the one with this id, which a repetition finds there.
 */
static bool has_room(struct store *store, const char *user_id, const char *id) {
    static struct statement s = {.sql =
                                     "SELECT count(*) FROM reply WHERE user_id = ?1 AND id <> ?2"};
    sql_start(store, &s, TEXT(user_id), TEXT(id));
    return row_integer(store, &s, CANNED_REPLIES_MAX) < CANNED_REPLIES_MAX;
}

/* Whether another one of the user has the shortcut. */
static bool is_taken(struct store *store, const char *user_id, const char *shortcut,
                     const char *id) {
    static struct statement s = {
        .sql = "SELECT id FROM reply WHERE user_id = ?1 AND shortcut = ?2 AND id <> ?3"};
    sql_start(store, &s, TEXT(user_id), TEXT(shortcut), TEXT(id));
    return row_exists(store, &s);
}

static bool insert(struct store *store, const char *user_id,
                   const struct store_canned_reply *reply) {
    static struct statement s = {
        .sql = "INSERT INTO reply (id, user_id, shortcut, text, by_id, by_name, created_at, "
               "updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) ON CONFLICT (id) DO NOTHING"};
    return sql_run(store, &s, TEXT(reply->id), TEXT(user_id), TEXT(reply->shortcut),
                   TEXT(reply->text), TEXT(reply->by.id),
                   TEXT(reply->by.id ? reply->by.name : NULL), INTEGER(reply->created_at)) &&
           store_trail(store, user_id, reply->id);
}

enum store_result store_insert_canned_reply(struct store *store, const char *user_id,
                                            const struct store_canned_reply *reply,
                                            enum canned_reply_refusal *refusal) {
    while (sql_transact(store)) {
        sql_lock(store, LOCK_USER, NULL, &user_id, 1);
        *refusal = is_taken(store, user_id, reply->shortcut, reply->id) ? CANNED_REPLY_TAKEN
                   : has_room(store, user_id, reply->id)                ? CANNED_REPLY_NOT_REFUSED
                                                                        : CANNED_REPLY_FULL;
        if (!*refusal)
            insert(store, user_id, reply);
    }
    return sql_result(store);
}

/* Whether the user has it; `*is_own`: the author is `by`, or `by` is NULL. */
static bool find_own(struct store *store, const char *user_id, const char *id, const char *by,
                     bool *is_own) {
    static struct statement s = {.sql = "SELECT coalesce(by_id, '') = ?3 OR ?3 IS NULL FROM reply "
                                        "WHERE id = ?1 AND user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(user_id), TEXT(by));
    const int64_t own = row_integer(store, &s, -1);
    *is_own = own > 0;
    return own >= 0;
}

static bool change(struct store *store, const char *user_id,
                   const struct store_canned_reply *reply) {
    static struct statement s = {
        .sql = "UPDATE reply SET shortcut = coalesce(?2, shortcut), text = coalesce(?3, text), "
               "updated_at = ?4 WHERE id = ?1"};
    return sql_run(store, &s, TEXT(reply->id), TEXT(reply->shortcut), TEXT(reply->text),
                   INTEGER(reply->updated_at)) &&
           store_trail(store, user_id, reply->id);
}

enum store_result store_change_canned_reply(struct store *store, const char *user_id,
                                            const struct store_canned_reply *reply, const char *by,
                                            enum canned_reply_refusal *refusal) {
    bool found = false, is_own = false;
    while (sql_transact(store)) {
        sql_lock(store, LOCK_USER, NULL, &user_id, 1);
        found = find_own(store, user_id, reply->id, by, &is_own);
        *refusal = !is_own ? CANNED_REPLY_OF_OTHER
                   : reply->shortcut && is_taken(store, user_id, reply->shortcut, reply->id)
                       ? CANNED_REPLY_TAKEN
                       : CANNED_REPLY_NOT_REFUSED;
        if (found && !*refusal)
            change(store, user_id, reply);
    }
    return sql_found(store, found);
}

enum store_result store_delete_canned_reply(struct store *store, const char *user_id,
                                            const char *id, const char *by,
                                            enum canned_reply_refusal *refusal) {
    static struct statement s = {.sql = "DELETE FROM reply WHERE id = ?1"};
    bool found = false, is_own = false;
    while (sql_transact(store)) {
        const bool may_be_done = is_own && sql_may_have_committed(store);
        sql_lock(store, LOCK_USER, NULL, &user_id, 1);
        found = find_own(store, user_id, id, by, &is_own) || may_be_done;
        is_own |= may_be_done;
        if (found && is_own && sql_run(store, &s, TEXT(id)))
            store_trail(store, user_id, id);
    }
    *refusal = is_own ? CANNED_REPLY_NOT_REFUSED : CANNED_REPLY_OF_OTHER;
    return sql_found(store, found);
}
