/* What the regular work deletes of the table outgoing. */
#include "engine/sql.h"
#include "store/chore.h"
#include "store/outgoing.h"
#include "store/outgoing/outgoing_row.h"

enum { ROWS_AT_ONCE = 500 };
#define DAYS (24 * 60 * 60 * INT64_C(1000))

/* How long ended rows are kept, by state. */
static const struct {
    const char *state;
    int64_t kept;
} kept[] = {{"accepted", 7 * DAYS}, {"cancelled", 7 * DAYS}, {"expired", 30 * DAYS},
            {"failed", 30 * DAYS},  {"unknown", 30 * DAYS},  {"suppressed", 30 * DAYS}};

static enum store_result delete_state(struct store *store, const char *state, int64_t until,
                                      size_t *removed) {
#define OLD                                                                                        \
    "SELECT id FROM outgoing WHERE finished_at IS NOT NULL AND state = ?1 AND finished_at <= ?2 "  \
    "AND NOT (state = 'accepted' AND is_recorded = 0) ORDER BY finished_at LIMIT ?3"
    static struct statement find = {.sql = OLD};
    static struct statement s = {.sql = "DELETE FROM outgoing WHERE id IN (" OLD ")"};
    bool is_free = false;
    sql_start(store, &find, TEXT(state), INTEGER(until), INTEGER(1));
    if (!sql_row(store, &find))
        return sql_result(store); /* without taking the write lock */
    sql_stop(&find);
    while (sql_transact(store))
        if (chore_take(store, &is_free) &&
            sql_run(store, &s, TEXT(state), INTEGER(until), INTEGER(ROWS_AT_ONCE)))
            *removed = (size_t)sql_changes(store);
    return chore_result(store, is_free);
}

enum store_result store_delete_old_outgoing(struct store *store, int64_t now, size_t *removed) {
    enum store_result result = STORE_OK;
    *removed = 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && result == STORE_OK && !*removed; i++)
        result = delete_state(store, kept[i].state, now - kept[i].kept, removed);
    return result;
}

/* --- the retention of a user --- */

/* Rows of the user that ended before ?2, and so were made before ?3, which the index has. Those
 * that were accepted or cancelled go earlier than any retention. */
#define OLD_OF_USER                                                                                \
    "SELECT o.id FROM outgoing o WHERE o.user_id = ?1 "                                            \
    "AND o.state IN ('failed', 'unknown', 'expired', 'suppressed') AND o.id < ?3 "                 \
    "AND o.finished_at < ?2 "                                                                      \
    "AND NOT EXISTS (SELECT 1 FROM contact c WHERE c.account_id = o.account_id "                   \
    "AND c.phone = o.recipient AND c.held_at IS NOT NULL) "                                        \
    "AND NOT EXISTS (SELECT 1 FROM contact c WHERE c.account_id = o.account_id "                   \
    "AND c.bsuid = o.recipient AND c.held_at IS NOT NULL) "                                        \
    "AND NOT EXISTS (SELECT 1 FROM contact_alias a JOIN contact c ON c.id = a.contact_id "         \
    "WHERE a.account_id = o.account_id AND a.identity = o.recipient "                              \
    "AND c.held_at IS NOT NULL) LIMIT ?4"

enum store_result outgoing_prune(struct store *store, const char *user_id, int64_t before,
                                 size_t *removed) {
    static struct statement find = {.sql = OLD_OF_USER};
    static struct statement s = {.sql = "DELETE FROM outgoing WHERE state <> 'accepted' "
                                        "AND id IN (" OLD_OF_USER ")"};
    char least[ID_SIZE];
    bool is_free = false;
    id_least(least, "out_", before);
    const struct parameter user = TEXT(user_id), ended = INTEGER(before), made = TEXT(least);
    sql_start(store, &find, user, ended, made, INTEGER(1));
    if (!sql_row(store, &find))
        return sql_result(store);
    sql_stop(&find);
    while (sql_transact(store))
        if (chore_take(store, &is_free) &&
            sql_run(store, &s, user, ended, made, INTEGER(ROWS_AT_ONCE)))
            *removed = (size_t)sql_changes(store);
    return chore_result(store, is_free);
}
