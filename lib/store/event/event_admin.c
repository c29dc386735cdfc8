#include "store/event_admin.h"

#include "store/event/destination_row.h"
#include "store/event/webhook_match.h"

/* Lists the users with a suspended webhook and their emails, each once, and locks the users until
 * the transaction ends. */
static size_t lock_suspended(struct store *store, struct arena *arena, const char *const **ids,
                             const char *const **emails) {
    static struct statement s = {.sql = "SELECT u.email, u.id FROM webhook w JOIN \"user\" u "
                                        "ON u.id = w.user_id WHERE w.suspended_at IS NOT NULL "
                                        "ORDER BY u.email, u.id"};
    struct buffer id_list = buffer_in(arena), email_list = buffer_in(arena);
    const char *last = "";
    sql_start_with(store, &s, NULL, 0);
    while (sql_row(store, &s)) {
        const char *email = column_text(&s, 0, arena), *id = column_text(&s, 1, arena);
        if (strcmp(id, last) == 0)
            continue;
        last = id;
        buffer_add(&email_list, &email, sizeof email);
        buffer_add(&id_list, &id, sizeof id);
    }
    *ids = (const char *const *)(void *)id_list.p;
    *emails = (const char *const *)(void *)email_list.p;
    const size_t count = id_list.n / sizeof **ids;
    if (count)
        sql_lock(store, LOCK_USER, NULL, *ids, count);
    return count;
}

/* Resumes the user's suspended webhooks; whether there is still one. */
static bool resume(struct store *store, const char *user_id, int64_t now) {
    static struct statement drain = {
        .sql = "UPDATE delivery SET next_attempt_at = ?1 "
               "WHERE state = 'pending' AND next_attempt_at > ?1 AND webhook_id IN "
               "(SELECT id FROM webhook WHERE user_id = ?2 AND suspended_at IS NOT NULL)"};
    static struct statement end = {
        .sql = "UPDATE webhook SET suspended_at = NULL, failing_since = NULL, "
               "next_probe_at = NULL, updated_at = ?1 WHERE user_id = ?2 "
               "AND suspended_at IS NOT NULL"};
    return sql_run(store, &drain, INTEGER(now), TEXT(user_id)) &&
           sql_run(store, &end, INTEGER(now), TEXT(user_id)) && sql_changes(store) > 0;
}

enum store_result store_resume_webhooks(struct store *store, struct arena *arena, int64_t now,
                                        const char *const **emails, size_t *count) {
    *count = 0;
    while (sql_transact(store)) {
        struct buffer resumed = buffer_in(arena);
        const char *const *ids, *const *listed;
        const size_t listed_count = lock_suspended(store, arena, &ids, &listed);
        for (size_t i = 0; i < listed_count; i++)
            if (resume(store, ids[i], now))
                buffer_add(&resumed, &listed[i], sizeof *listed);
        if (!resumed.n && sql_may_have_committed(store))
            continue;
        *emails = (const char *const *)(void *)resumed.p;
        *count = resumed.n / sizeof **emails;
    }
    return sql_result(store);
}

/* --- types of events --- */

#define PRESET_TYPES "message.received lead.created" /* those of event_types NULL */

/* The types of the first webhook, without message.status; NULL: none is named. */
static const char *other_types(struct store *store, struct arena *arena, const char *id) {
    static struct statement s = {.sql = "SELECT event_types FROM webhook WHERE id = ?1"};
    struct buffer kept = buffer_in(arena);
    const char *types = NULL;
    sql_start(store, &s, TEXT(id));
    if (sql_row(store, &s)) {
        types = column_text(&s, 0, arena);
        sql_stop(&s);
    }
    struct slice rest = slice_of(types);
    while (rest.n) {
        struct slice word = slice_cut(&rest, ' ');
        if (slice_equal(word, SLICE("message.status")))
            continue;
        if (kept.n)
            buffer_add_char(&kept, ' ');
        buffer_add_slice(&kept, word);
    }
    return types ? kept.n ? kept.p : "" : NULL;
}

/* The value of event_types; NULL: the preset types. */
static const char *types_with(struct arena *arena, const char *others, bool wants_status) {
    if (wants_status)
        return others && !*others
                   ? "message.status"
                   : arena_printf(arena, "%s message.status", others ? others : PRESET_TYPES);
    return others && strcmp(others, PRESET_TYPES) != 0 ? others : NULL;
}

static bool set_types(struct store *store, const char *id, const char *types) {
    static struct statement s = {.sql = "UPDATE webhook SET event_types = ?2 WHERE id = ?1"};
    return sql_run(store, &s, TEXT(id), TEXT(types));
}

static bool find_user(struct store *store, const char *email, char id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT id FROM \"user\" WHERE email = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(email));
    return sql_read_id(store, &s, id);
}

enum store_result store_upsert_wants_message_status(struct store *store, struct arena *arena,
                                                    const char *email, bool wanted, int64_t now) {
    char user_id[ID_SIZE], id[ID_SIZE];
    const char *locked = user_id;
    bool found = false;
    while (sql_transact(store)) {
        found = find_user(store, email, user_id);
        if (found)
            sql_lock(store, LOCK_USER, NULL, &locked, 1);
        if (found && !sql_failed(store) && destination_ensure_first(store, user_id, now, id))
            set_types(store, id, types_with(arena, other_types(store, arena, id), wanted));
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}
