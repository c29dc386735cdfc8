#include "store/user_webhook.h"

#include "store/deed.h"
#include "store/event/event_entry.h"
#include "store/event_type.h"

enum { CODE_OVERLAP_MS = 24 * 60 * 60 * 1000 }; /* how long a replaced code still signs */

const char *store_webhook_state(const struct store_webhook *webhook) {
    if (!*webhook->url || !webhook->sealed_code.n)
        return "unset";
    if (webhook->paused_at != INT64_MAX)
        return "paused";
    return webhook->suspended_at != INT64_MAX ? "suspended" : "active";
}

/* --- reading --- */

#define IS_FIRST "CASE WHEN w.id = " WEBHOOK_FIRST_OF("w.user_id") " THEN 1 ELSE 0 END"
#define COLUMNS                                                                                    \
    "w.id, w.user_id, w.name, w.kind, w.url, w.code, w.event_types, w.fields, w.updates, "         \
    "w.splits_messages, w.created_at, w.updated_at, w.paused_at, w.failing_since, "                \
    "w.suspended_at, w.next_probe_at, w.account_id, " IS_FIRST ", w.line_ids"
#define OF(member)      ROW_MEMBER(struct store_webhook, member)
#define TIME_OF(member) ROW_TIME_MEMBER(struct store_webhook, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_webhook, OF(id), OF(user_id), OF(name), OF(kind), OF(url),
               OF(sealed_code), OF(event_types), OF(fields), OF(updates), OF(splits_messages),
               OF(created_at), OF(updated_at), TIME_OF(paused_at), TIME_OF(failing_since),
               TIME_OF(suspended_at), TIME_OF(next_probe_at), OF(account_id), OF(is_first));

/* The words of a list, as an array. */
static const char *const *words_of(struct arena *arena, const char *list, size_t *count) {
    struct buffer words = buffer_in(arena);
    struct slice rest = slice_of(list);
    while (rest.n) {
        const char *word = arena_copy(arena, slice_cut(&rest, ' '));
        buffer_add(&words, &word, sizeof word);
    }
    return buffer_array(&words, sizeof(char *), count);
}

/* Reads the next row of a statement that selects COLUMNS. */
static bool read_row(struct store *store, struct statement *s, struct arena *arena,
                     struct store_webhook *row) {
    *row = (struct store_webhook){.line_count = 0};
    if (!sql_row(store, s))
        return false;
    row_read(s, 0, arena, &layout, row);
    const char *const line_ids = column_text(s, layout.count, arena);
    row->all_lines = !line_ids;
    if (line_ids)
        row->line_ids = words_of(arena, line_ids, &row->line_count);
    return true;
}

/* Finds the platform's ids of the webhook's lines, which are never deleted. */
static void read_lines(struct store *store, struct arena *arena, struct store_webhook *row) {
    static struct statement s = {.sql = "SELECT phone_number_id FROM line WHERE id = ?1"};
    const char **ids = arena_alloc(arena, row->line_count * sizeof *ids);
    for (size_t i = 0; i < row->line_count; i++) {
        sql_start(store, &s, TEXT(row->line_ids[i]));
        const char *const id = row_text(store, &s, arena);
        ids[i] = id ? id : "";
    }
    row->phone_number_ids = ids;
}

/* Starts a statement that counts deliveries to the webhook, and returns their number. */
static int64_t count_deliveries(struct store *store, struct statement *s, const char *id) {
    sql_start(store, s, TEXT(id), INTEGER(STORE_WEBHOOK_MOST));
    return row_integer(store, s, 0);
}

/* Reads what is not in the row itself. */
static void complete(struct store *store, struct arena *arena, struct store_webhook *row) {
    static struct statement pending = {
        .sql = "SELECT count(*) FROM (SELECT event_id FROM delivery WHERE webhook_id = ?1 "
               "AND state = 'pending' LIMIT ?2) AS counted"};
    static struct statement dead = {
        .sql = "SELECT count(*) FROM (SELECT event_id FROM delivery WHERE webhook_id = ?1 "
               "AND state = 'dead' LIMIT ?2) AS counted"};
    read_lines(store, arena, row);
    row->pending = count_deliveries(store, &pending, row->id);
    row->dead = count_deliveries(store, &dead, row->id);
}

static bool find_row(struct store *store, struct arena *arena, const char *user_id, const char *id,
                     struct store_webhook *row) {
    static struct statement s = {
        .sql = "SELECT " COLUMNS " FROM webhook w "
               "WHERE w.id = ?2 AND (w.user_id = ?1 OR ?1 IS NULL) AND w.deleted_at IS NULL"};
    sql_start(store, &s, TEXT(user_id), TEXT(id));
    const bool found = read_row(store, &s, arena, row);
    sql_stop(&s);
    return found;
}

enum store_result store_find_webhook(struct store *store, struct arena *arena, const char *user_id,
                                     const char *id, struct store_webhook *found) {
    const bool is_found = find_row(store, arena, user_id, id, found);
    if (is_found)
        complete(store, arena, found);
    return sql_found(store, is_found);
}

enum store_result store_find_first_webhook(struct store *store, struct arena *arena,
                                           const char *user_id, struct store_webhook *found) {
    static struct statement s = {.sql = "SELECT " COLUMNS
                                        " FROM webhook w WHERE w.id = " WEBHOOK_FIRST};
    sql_start(store, &s, TEXT(user_id));
    if (!read_row(store, &s, arena, found))
        *found = (struct store_webhook){.url = "",
                                        .paused_at = INT64_MAX,
                                        .failing_since = INT64_MAX,
                                        .suspended_at = INT64_MAX,
                                        .next_probe_at = INT64_MAX};
    sql_stop(&s);
    return sql_result(store);
}

static struct store_webhook *read_rows(struct store *store, struct statement *s,
                                       struct arena *arena, size_t *count) {
    struct buffer rows = buffer_in(arena);
    struct store_webhook row;
    while (read_row(store, s, arena, &row))
        buffer_add(&rows, &row, sizeof row);
    return buffer_array(&rows, sizeof row, count);
}

enum store_result store_list_webhooks(struct store *store, struct arena *arena, const char *user_id,
                                      const struct store_page *page, struct store_webhook **list,
                                      size_t *count) {
    static struct statement s = {
        .sql = "SELECT " COLUMNS " FROM webhook w WHERE w.user_id = ?1 AND w.deleted_at IS NULL "
               "AND (w.created_at, w.id) > (?2, ?3) ORDER BY w.created_at, w.id LIMIT ?4"};
    struct store_webhook after = {.created_at = INT64_MIN};
    if (page->after && !find_row(store, arena, user_id, page->after, &after))
        after.created_at = INT64_MAX;
    sql_start(store, &s, TEXT(user_id), INTEGER(after.created_at),
              TEXT(page->after ? page->after : ""), INTEGER((int64_t)page->limit));
    *list = read_rows(store, &s, arena, count);
    for (size_t i = 0; i < *count; i++)
        complete(store, arena, &(*list)[i]);
    return sql_result(store);
}

enum store_result store_list_callbacks(struct store *store, struct arena *arena,
                                       const char *user_id, struct store_webhook **list,
                                       size_t *count) {
    static struct statement s = {
        .sql = "SELECT " COLUMNS " FROM webhook w WHERE w.user_id = ?1 AND w.kind = 'forward' "
               "AND " WEBHOOK_IS_SET " ORDER BY w.created_at, w.id"};
    sql_start(store, &s, TEXT(user_id));
    *list = read_rows(store, &s, arena, count);
    for (size_t i = 0; i < *count; i++)
        read_lines(store, arena, &(*list)[i]);
    return sql_result(store);
}

#define OF_SUSPENDED(member) ROW_MEMBER(struct store_suspended, member)
static const struct row_layout suspended_layout = ROW_LAYOUT(
    struct store_suspended, OF_SUSPENDED(id), OF_SUSPENDED(user_id), OF_SUSPENDED(email));

enum store_result store_list_suspended(struct store *store, struct arena *arena,
                                       struct store_suspended **list, size_t *count) {
    static struct statement s = {
        .sql = "SELECT w.id, u.id, u.email FROM webhook w JOIN \"user\" u ON u.id = w.user_id "
               "WHERE w.suspended_at IS NOT NULL ORDER BY u.email, u.id, w.created_at, w.id"};
    sql_start_with(store, &s, NULL, 0);
    *list = row_list(store, &s, arena, &suspended_layout, count);
    return sql_result(store);
}

/* --- writing --- */

/* Locks what a change of one of the user's webhooks needs, at the begin of the transaction; the
 * delivery of events reads it. `code` NULL: none is sealed. False on failure. */
static bool lock_webhooks(struct store *store, const char *user_id,
                          const struct store_secret *code) {
    sql_lock(store, LOCK_USER, NULL, &user_id, 1);
    if (code)
        sql_lock(store, LOCK_KEYS, NULL, NULL, 0);
    return !sql_failed(store);
}

/* Finds the user's first webhook; false when there is none, or on failure. */
static bool find_first_id(struct store *store, const char *user_id, char id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT id FROM webhook WHERE id = " WEBHOOK_FIRST};
    sql_start(store, &s, TEXT(user_id));
    return sql_read_id(store, &s, id);
}

/* The same, but inserts one without URL and code when there is none. */
static bool ensure_first(struct store *store, const char *user_id, int64_t now, char id[ID_SIZE]) {
    static struct statement s = {
        .sql = "INSERT INTO webhook (id, user_id, kind, created_at, updated_at) "
               "VALUES (?1, ?2, 'event', ?3, ?3)"};
    if (find_first_id(store, user_id, id) || sql_failed(store))
        return !sql_failed(store);
    id_make(id, "whk_", now);
    return sql_run(store, &s, TEXT(id), TEXT(user_id), INTEGER(now));
}

/* Sets the code; the former code still signs for a while. A repetition of the call finds its own
 * value: that replaces nothing. */
static bool replace_code(struct store *store, const char *id, const struct store_secret *code,
                         int64_t now) {
    struct slice sealed_code = sql_seal(store, code);
    static struct statement s = {
        .sql = "UPDATE webhook SET previous_code = code, previous_until = "
               "CASE WHEN code IS NULL THEN NULL ELSE CAST(?4 AS BIGINT) END, code = ?2, "
               "updated_at = ?3 WHERE id = ?1 AND (code IS NULL OR code <> ?2)"};
    return sql_run(store, &s, TEXT(id), BLOB(sealed_code), INTEGER(now),
                   INTEGER(now + CODE_OVERLAP_MS));
}

/* Sets the URL, ends the suspension and makes the pending deliveries due. */
static bool set_url(struct store *store, const char *id, const char *url, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE webhook SET url = ?2, failing_since = NULL, suspended_at = NULL, "
               "next_probe_at = NULL, updated_at = ?3 WHERE id = ?1"};
    return sql_run(store, &s, TEXT(id), TEXT(url), INTEGER(now)) && outbox_make_due(store, id, now);
}

/* Whether the user may have one more webhook, or this one is stored already. */
static bool has_room(struct store *store, const struct store_webhook_change *change) {
    static struct statement s = {
        .sql = "SELECT count(*), count(CASE WHEN id = ?2 THEN 1 END) FROM webhook "
               "WHERE user_id = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(change->user_id), TEXT(change->id));
    const bool has_room = sql_row(store, &s) && (column_integer(&s, 0) < STORE_WEBHOOKS_KEPT ||
                                                 column_integer(&s, 1) != 0);
    sql_stop(&s);
    return has_room;
}

enum store_result store_insert_webhook(struct store *store,
                                       const struct store_webhook_change *change) {
    static struct statement s = {
        .sql = "INSERT INTO webhook (id, user_id, name, kind, url, code, event_types, line_ids, "
               "fields, updates, splits_messages, paused_at, created_at, updated_at, account_id) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
               "coalesce(?9, (SELECT a.subscribed_fields FROM account a WHERE a.id = ?14)), "
               "?10, ?11, ?12, ?13, ?13, ?14) "
               "ON CONFLICT (id) DO NOTHING"};
    bool fits = false;
    while (sql_transact(store)) {
        fits = lock_webhooks(store, change->user_id, change->code) && has_room(store, change);
        if (!fits)
            continue;
        const struct slice sealed = sql_seal(store, change->code);
        if (sql_run(store, &s, TEXT(change->id), TEXT(change->user_id),
                    TEXT(change->name ? change->name : ""), TEXT(change->kind),
                    TEXT(change->url ? change->url : ""), BLOB(sealed), TEXT(change->event_types),
                    TEXT(change->line_ids), TEXT(change->fields), TEXT(change->updates),
                    INTEGER(change->splits_messages),
                    change->pauses ? INTEGER(change->now) : NO_INTEGER, INTEGER(change->now),
                    TEXT(change->account_id)))
            store_trail(store, change->user_id, change->id);
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK && !fits ? STORE_CONFLICT : result;
}

/* Sets the columns that are set; the others keep their values. */
static bool update_row(struct store *store, const struct store_webhook_change *change) {
    static struct statement s = {
        .sql = "UPDATE webhook SET name = CASE WHEN ?2 = 1 THEN ?3 ELSE name END, "
               "event_types = CASE WHEN ?4 = 1 THEN ?5 ELSE event_types END, "
               "line_ids = CASE WHEN ?6 = 1 THEN ?7 ELSE line_ids END, "
               "fields = CASE WHEN ?8 = 1 THEN ?9 ELSE fields END, "
               "splits_messages = CASE WHEN ?10 = 1 THEN CAST(?11 AS BIGINT) "
               "  ELSE splits_messages END, "
               "updates = CASE WHEN ?12 = 1 THEN ?13 ELSE updates END, "
               "updated_at = ?14 WHERE id = ?1 AND user_id = ?15 AND deleted_at IS NULL"};
    return sql_run(store, &s, TEXT(change->id), INTEGER(change->sets_name),
                   TEXT(change->name ? change->name : ""), INTEGER(change->sets_event_types),
                   TEXT(change->event_types), INTEGER(change->sets_lines), TEXT(change->line_ids),
                   INTEGER(change->sets_fields), TEXT(change->fields),
                   INTEGER(change->sets_splitting), INTEGER(change->splits_messages),
                   INTEGER(change->sets_updates), TEXT(change->updates), INTEGER(change->now),
                   TEXT(change->user_id));
}

/* Adds or removes one type of events. */
static bool switch_type(struct store *store, const struct store_webhook_change *change) {
    static struct statement s = {
        .sql = "UPDATE webhook SET event_types = nullif(trim(replace(' ' || "
               "coalesce(event_types, ?4) || ' ', ' ' || ?2 || ' ', ' ') || ?3), ?4) "
               "WHERE id = ?1"};
    const char *const type = change->switched_type;
    return !type || sql_run(store, &s, TEXT(change->id), TEXT(type),
                            TEXT(change->switches_off ? "" : type), TEXT(&EVENT_TYPES_ON[1]));
}

static bool update_pause(struct store *store, const struct store_webhook_change *change) {
    static struct statement pause = {
        .sql = "UPDATE webhook SET paused_at = coalesce(paused_at, ?2) WHERE id = ?1"};
    static struct statement resume = {
        .sql = "UPDATE webhook SET paused_at = CASE WHEN ?2 = 1 THEN NULL ELSE paused_at END, "
               "failing_since = NULL, suspended_at = NULL, next_probe_at = NULL WHERE id = ?1"};
    if (change->pauses)
        return sql_run(store, &pause, TEXT(change->id), INTEGER(change->now));
    return !(change->resumes || change->ends_suspension) ||
           (sql_run(store, &resume, TEXT(change->id), INTEGER(change->resumes)) &&
            outbox_make_due(store, change->id, change->now));
}

/* False when the user has no such webhook, or on failure. */
static bool update(struct store *store, const struct store_webhook_change *change) {
    if (!update_row(store, change) || !sql_changes(store))
        return false;
    if (switch_type(store, change) &&
        (!change->code || replace_code(store, change->id, change->code, change->now)) &&
        (!change->sets_url || set_url(store, change->id, change->url, change->now)))
        update_pause(store, change);
    return true;
}

enum store_result store_change_webhook(struct store *store,
                                       const struct store_webhook_change *change) {
    bool found = false;
    while (sql_transact(store)) {
        char first[ID_SIZE];
        struct store_webhook_change named = *change;
        if (!change->id)
            named.id = first;
        found = lock_webhooks(store, change->user_id, change->code) &&
                (change->id || ensure_first(store, change->user_id, change->now, first)) &&
                update(store, &named) && store_trail(store, change->user_id, named.id);
    }
    return sql_found(store, found);
}

enum store_result store_delete_webhook(struct store *store, const char *user_id, const char *id,
                                       int64_t now) {
    static struct statement remove = {
        .sql = "UPDATE webhook SET deleted_at = ?2, updated_at = ?2, url = '', code = NULL, "
               "previous_code = NULL, previous_until = NULL, failing_since = NULL, "
               "suspended_at = NULL, next_probe_at = NULL "
               "WHERE id = ?1 AND user_id = ?3 AND deleted_at IS NULL"};
    static struct statement turn = {.sql = "DELETE FROM event_turn WHERE webhook_id = ?1"};
    bool found = false;
    while (sql_transact(store)) {
        const bool is_removed = lock_webhooks(store, user_id, NULL) &&
                                sql_run(store, &remove, TEXT(id), INTEGER(now), TEXT(user_id)) &&
                                sql_changes(store) > 0;
        found = is_removed || (found && sql_may_have_committed(store));
        if (is_removed && sql_run(store, &turn, TEXT(id)) && store_trail(store, user_id, id))
            outbox_cancel(store, user_id, id, now);
    }
    return sql_found(store, found);
}

enum store_result store_set_subscribed_fields(struct store *store, const char *user_id,
                                              const char *account_id, const char *fields,
                                              int64_t now) {
    static struct statement remember = {
        .sql = "UPDATE account SET subscribed_fields = ?3 WHERE id = ?1 AND user_id = ?2 "
               "AND coalesce(subscribed_fields, '') <> coalesce(?3, '')"};
    static struct statement set = {
        .sql = "UPDATE webhook SET fields = ?3, updated_at = ?4 WHERE user_id = ?2 "
               "AND account_id = ?1 AND deleted_at IS NULL AND coalesce(fields, '') <> ?3"};
    while (sql_transact(store))
        if (lock_webhooks(store, user_id, NULL) &&
            sql_run(store, &remember, TEXT(account_id), TEXT(user_id), TEXT(fields)) &&
            store_trail(store, user_id, account_id) && fields)
            sql_run(store, &set, TEXT(account_id), TEXT(user_id), TEXT(fields), INTEGER(now));
    return sql_result(store);
}

/* --- the first webhook --- */

enum store_result store_upsert_webhook_config(struct store *store, const char *user_id,
                                              const char *url, const struct store_secret *code,
                                              int64_t now) {
    char id[ID_SIZE];
    while (sql_transact(store))
        if (lock_webhooks(store, user_id, code) && ensure_first(store, user_id, now, id) &&
            (!code || replace_code(store, id, code, now)) && (!url || set_url(store, id, url, now)))
            store_trail(store, user_id, id);
    return sql_result(store);
}

enum store_result store_delete_webhook_config(struct store *store, const char *user_id,
                                              int64_t now) {
    static struct statement clear = {
        .sql = "UPDATE webhook SET url = '', code = NULL, previous_code = NULL, "
               "previous_until = NULL, failing_since = NULL, suspended_at = NULL, "
               "next_probe_at = NULL, updated_at = ?2 WHERE id = ?1"};
    char id[ID_SIZE];
    while (sql_transact(store))
        if (lock_webhooks(store, user_id, NULL)) {
            const bool found = find_first_id(store, user_id, id);
            if (found && sql_run(store, &clear, TEXT(id), INTEGER(now)))
                outbox_cancel(store, user_id, id, now);
            store_trail(store, user_id, found ? id : NULL);
        }
    return sql_result(store);
}

/* --- verification of URLs --- */

/* An end later than any was written before the clock was set back, and is ignored. */
enum store_result store_begin_verification(struct store *store, const char *user_id, int64_t now) {
    static struct statement s = {.sql = "UPDATE \"user\" SET verifying_until = ?3 WHERE id = ?1 "
                                        "AND (verifying_until <= ?2 OR verifying_until > ?3)"};
    bool is_free = false;
    while (sql_transact(store)) {
        const bool is_begun =
            sql_run(store, &s, TEXT(user_id), INTEGER(now), INTEGER(now + STORE_VERIFICATION_MS)) &&
            sql_changes(store) > 0;
        is_free = is_begun || (is_free && sql_may_have_committed(store));
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK && !is_free ? STORE_CONFLICT : result;
}

enum store_result store_end_verification(struct store *store, const char *user_id) {
    static struct statement s = {.sql = "UPDATE \"user\" SET verifying_until = 0 WHERE id = ?1"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(user_id));
    return sql_result(store);
}
