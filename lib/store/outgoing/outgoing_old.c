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
    "AND campaign_id IS NULL AND NOT (state = 'accepted' AND is_recorded = 0) ORDER BY "           \
    "finished_at LIMIT "
    static struct statement find = {.sql = OLD "1"};
    static struct statement s = {.sql = "DELETE FROM outgoing WHERE id IN (" OLD "?3)"};
    const struct parameter parameters[] = {TEXT(state), INTEGER(until), INTEGER(ROWS_AT_ONCE)};
    return chore_do(store, &(struct chore){&find, &s, parameters, 2, 3}, removed);
}

enum store_result store_delete_old_outgoing(struct store *store, int64_t now, size_t *removed) {
    enum store_result result = STORE_OK;
    *removed = 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && result == STORE_OK && !*removed; i++)
        result = delete_state(store, kept[i].state, now - kept[i].kept, removed);
    return result;
}

/* --- the retention of a user --- */

/* Rows of the user that ended before ?2, and so were made before ?3, which the index has; those of
 * campaigns, too. */
#define OLD_OF_USER                                                                                \
    "SELECT o.id FROM outgoing o WHERE o.user_id = ?1 "                                            \
    "AND o.finished_at < ?2 AND o.id < ?3 AND NOT (o.state = 'accepted' AND o.is_recorded = 0) "   \
    "AND NOT EXISTS (SELECT 1 FROM contact c WHERE c.account_id = o.account_id "                   \
    "AND c.phone = o.recipient AND c.held_at IS NOT NULL) "                                        \
    "AND NOT EXISTS (SELECT 1 FROM contact c WHERE c.account_id = o.account_id "                   \
    "AND c.bsuid = o.recipient AND c.held_at IS NOT NULL) "                                        \
    "AND NOT EXISTS (SELECT 1 FROM contact_alias a JOIN contact c ON c.id = a.contact_id "         \
    "WHERE a.account_id = o.account_id AND a.identity = o.recipient "                              \
    "AND c.held_at IS NOT NULL) LIMIT "

/* The counts of campaigns keep what was reached. */
enum store_result outgoing_prune(struct store *store, const char *user_id, int64_t before,
                                 size_t *removed) {
    static struct statement find = {.sql = OLD_OF_USER "1"};
    static struct statement s = {.sql = "DELETE FROM outgoing WHERE "
                                        "NOT (state = 'accepted' AND is_recorded = 0) "
                                        "AND id IN (" OLD_OF_USER "?4)"};
    char least[ID_SIZE];
    id_least(least, "out_", before);
    const struct parameter parameters[] = {TEXT(user_id), INTEGER(before), TEXT(least),
                                           INTEGER(ROWS_AT_ONCE)};
    return chore_do(store, &(struct chore){&find, &s, parameters, 3, 4}, removed);
}
