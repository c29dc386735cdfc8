/* The calls of the sender: its lease, and the rows that it takes. */
#include <string.h>

#include "store/campaign.h"
#include "store/outgoing.h"
#include "store/outgoing/campaign_count.h"
#include "store/outgoing/outgoing_row.h"

enum {
    ROWS_AT_ONCE = 500,
    LONGEST_WAIT_MS = 2 * 60 * 60 * 1000 /* of any refusal; a longer one is of a clock set back */
};

/* --- the lease --- */

/* A lease that ends later than any lease can is of a clock that was set back since. */
static bool take_lease(struct store *store, const char *owner, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO sender_lease (id, owner, lease_until) VALUES (1, ?1, ?2 + ?3) "
               "ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, "
               "lease_until = excluded.lease_until WHERE sender_lease.owner = ?1 "
               "OR sender_lease.lease_until <= ?2 OR sender_lease.lease_until > ?2 + ?3"};
    return row_write(store, &s, TEXT(owner), INTEGER(now), INTEGER(SENDER_LEASE_MS));
}

/* Rows that other senders were sending: those have ended, or have lost the lease. */
static bool give_up(struct store *store, const char *owner, int64_t now) {
    static struct campaign_transition rows = {
        {.sql = "UPDATE outgoing SET state = 'unknown', reason = 'interrupted', finished_at = ?2, "
                "report_at = " OUTGOING_REPORT_UNKNOWN(
                    "?2") " WHERE state = 'sending' AND taken_by <> ?1 RETURNING campaign_id"},
        "sending",
        "unknown"};
    size_t given_up = 0;
    return campaign_count_run(store, &rows, &given_up, TEXT(owner), INTEGER(now));
}

enum store_result store_hold_sender_lease(struct store *store, const char *owner, int64_t now,
                                          bool *is_held) {
    while (sql_transact(store)) {
        *is_held = take_lease(store, owner, now);
        if (*is_held)
            give_up(store, owner, now);
    }
    return sql_result(store);
}

enum store_result store_end_sender_lease(struct store *store, const char *owner, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE sender_lease SET lease_until = ?2 WHERE id = 1 AND owner = ?1"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(owner), INTEGER(now));
    return sql_result(store);
}

/* --- what is due --- */

/* The time of the line's first row that is not being sent; INT64_MAX: none. Few rows are being
 * sent. */
static int64_t first_due(struct store *store, const char *line_id) {
    static struct statement s = {.sql = "SELECT send_at FROM outgoing WHERE finished_at IS NULL "
                                        "AND line_id = ?1 AND state = 'queued' "
                                        "ORDER BY send_at, id LIMIT 1"};
    sql_start(store, &s, TEXT(line_id));
    return row_integer(store, &s, INT64_MAX);
}

#define OF_LINE(member) ROW_MEMBER(struct outgoing_line, member)
static const struct row_layout line_layout =
    ROW_LAYOUT(struct outgoing_line, OF_LINE(id), OF_LINE(is_coexisting), OF_LINE(send_rate));

enum store_result store_next_outgoing_line(struct store *store, const char *after,
                                           struct outgoing_line *line) {
    static struct statement s = {
        .sql = "SELECT o.line_id, l.is_coexisting, coalesce(l.send_rate, 0) "
               "FROM outgoing o JOIN line l ON l.id = o.line_id "
               "WHERE o.finished_at IS NULL AND o.line_id > ?1 ORDER BY o.line_id LIMIT 1"};
    sql_start(store, &s, TEXT(after));
    const bool found = row_find(store, &s, NULL, &line_layout, line);
    if (found)
        line->due_at = first_due(store, line->id);
    return sql_found(store, found);
}

enum store_result store_expire_outgoing(struct store *store, int64_t now, size_t *expired) {
#define LATE                                                                                       \
    "SELECT id FROM outgoing WHERE finished_at IS NULL AND expires_at <= ?1 "                      \
    "AND state = 'queued' ORDER BY expires_at LIMIT ?2"
    static struct statement find = {.sql = LATE};
    static struct campaign_transition late = {
        {.sql = "UPDATE outgoing SET state = 'expired', finished_at = ?1, "
                "report_at = " OUTGOING_REPORT("?1") " WHERE state = 'queued' AND id IN (" LATE
                                                     ") RETURNING campaign_id"},
        "queued",
        "expired"};
    *expired = 0;
    sql_start(store, &find, INTEGER(now), INTEGER(1));
    if (!row_exists(store, &find))
        return sql_result(store);
    while (sql_transact(store)) {
        *expired = 0;
        campaign_count_run(store, &late, expired, INTEGER(now), INTEGER(ROWS_AT_ONCE));
    }
    return sql_result(store);
}

/* --- taking --- */

/* Whether the owner still has the lease. The row is locked by that until the end of the
 * transaction, so that no other sender takes it over meanwhile. */
static bool keep_lease(struct store *store, const struct store_take *take) {
    static struct statement s = {.sql = "UPDATE sender_lease SET lease_until = ?2 WHERE id = 1 "
                                        "AND owner = ?1 AND lease_until > ?3"};
    return row_write(store, &s, TEXT(take->owner), INTEGER(take->now + SENDER_LEASE_MS),
                     INTEGER(take->now));
}

/* Gives the next rows that are due to this take. They are read in the order of the index
 * outgoing_due, and compared with those of their recipient. The sum and the empty texts keep
 * PostgreSQL from reading all that waits, of all lines or of this one, for each of them. */
static bool take_rows(struct store *store, const struct store_take *take) {
    static struct campaign_transition due = {
        {.sql =
             "UPDATE outgoing SET state = 'sending', reason = NULL, taken_by = ?4, take_id = ?5, "
             "attempts = attempts + 1 WHERE state = 'queued' AND id IN (SELECT o.id "
             "FROM outgoing o WHERE o.finished_at IS NULL AND o.line_id = ?1 "
             "AND o.send_at <= ?2 AND (o.next_at <= ?2 OR o.next_at > ?2 + ?6) "
             "AND o.expires_at + 0 > ?2 "
             "AND o.state = 'queued' AND NOT EXISTS (SELECT 1 FROM outgoing e "
             "WHERE e.finished_at IS NULL AND e.account_id = o.account_id "
             "AND e.recipient = o.recipient AND e.line_id = o.line_id || '' "
             "AND e.campaign_id IS NULL AND (e.send_at, e.id) < (o.send_at, o.id)) "
             "AND NOT EXISTS (SELECT 1 FROM outgoing f WHERE f.finished_at IS NULL "
             "AND f.account_id = o.account_id AND f.recipient = o.recipient "
             "AND f.line_id = o.line_id || '' AND f.state = 'sending') AND NOT EXISTS (SELECT 1 "
             "FROM campaign c "
             "WHERE c.id = o.campaign_id AND (c.state <> 'running' OR c.opens_at > ?2 "
             "OR c.closes_at <= ?2)) "
             "ORDER BY o.send_at, o.id LIMIT ?3) RETURNING campaign_id"},
        "queued",
        "sending"};
    size_t taken = 0;
    return campaign_count_run(store, &due, &taken, TEXT(take->line_id), INTEGER(take->now),
                              INTEGER((int64_t)take->limit), TEXT(take->owner), TEXT(take->take_id),
                              INTEGER(LONGEST_WAIT_MS));
}

/* Why the row must not be sent, in the order of spec 5.5. */
#define HINDRANCE                                                                                  \
    "CASE WHEN u.deleted_at IS NOT NULL THEN 'user_deleted' "                                      \
    "WHEN a.access_token IS NULL THEN 'account_without_token' "                                    \
    "WHEN p.name IS NULL OR p.name NOT IN ('Premium', 'Enterprise') "                              \
    "OR p.ends_at <= ?3 THEN 'plan_ended' WHEN l.archived_at IS NOT NULL THEN 'line_archived' END"

/* SQL: the template of the row's campaign is marketing, or has become so. */
#define IS_MARKETING                                                                               \
    "EXISTS (SELECT 1 FROM campaign c WHERE c.id = o.campaign_id AND (c.category = 'MARKETING' "   \
    "OR EXISTS (SELECT 1 FROM template t WHERE t.account_id = c.account_id "                       \
    "AND t.name = c.template AND t.language = replace(c.language, '-', '_') "                      \
    "AND t.category = 'MARKETING')))"

/* Reads the rows that this take has, from this run of the transaction or from an earlier one. */
static void read_taken(struct store *store, struct arena *arena, const struct store_take *take,
                       struct buffer *rows) {
    static struct statement s = {
        .sql = "SELECT " OUTGOING_COLUMNS ", a.access_token, " HINDRANCE ", CASE WHEN " IS_MARKETING
               " THEN 1 ELSE 0 END FROM outgoing o JOIN line l ON l.id = o.line_id "
               "JOIN account a ON a.id = o.account_id JOIN \"user\" u ON u.id = o.user_id "
               "LEFT JOIN plan p ON p.user_id = o.user_id AND p.is_addon = 0 "
               "WHERE o.state = 'sending' AND o.taken_by = ?1 AND o.take_id = ?2"};
    sql_start(store, &s, TEXT(take->owner), TEXT(take->take_id), INTEGER(take->now));
    while (sql_row(store, &s)) {
        struct store_outgoing row = {.id = NULL};
        row_read(&s, 0, arena, &outgoing_layout, &row);
        row.sealed_token = column_blob(&s, outgoing_layout.count, arena);
        row.hindrance = column_text(&s, outgoing_layout.count + 1, arena);
        row.is_marketing = column_integer(&s, outgoing_layout.count + 2) != 0;
        buffer_add(rows, &row, sizeof row);
    }
}

enum store_result store_take_outgoing(struct store *store, struct arena *arena,
                                      const struct store_take *take, struct store_outgoing **rows,
                                      size_t *count) {
    struct buffer list = buffer_in(arena);
    while (sql_transact(store)) {
        list = buffer_in(arena);
        if (keep_lease(store, take) && take_rows(store, take))
            read_taken(store, arena, take, &list);
    }
    const enum store_result result = sql_result(store);
    *rows = (struct store_outgoing *)(void *)list.p;
    *count = result == STORE_OK ? list.n / sizeof **rows : 0;
    return result;
}

/* --- outcomes --- */

/* Opts the recipient out of marketing (opt_out.h). */
static bool opt_out(struct store *store, const struct outgoing_outcome *outcome) {
    static struct statement s = {
        .sql = "INSERT INTO opt_out (account_id, identity, source, since) "
               "SELECT account_id, recipient, 'error', ?2 FROM outgoing WHERE id = ?1 "
               "ON CONFLICT (account_id, identity) DO NOTHING"};
    return sql_run(store, &s, TEXT(outcome->id), INTEGER(outcome->now));
}

/* Ends a row that is in the state `from`. */
static bool end_row(struct store *store, const struct outgoing_outcome *outcome, const char *from,
                    bool *is_ended) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET state = ?4, reason = ?5, error = ?6, "
               "attempts = attempts - ?7, next_at = ?8, "
               "finished_at = CASE WHEN ?4 = 'queued' THEN NULL ELSE ?9 END, "
               "report_at = CASE WHEN ?4 = 'unknown' THEN " OUTGOING_REPORT_UNKNOWN(
                   "?9") " WHEN ?4 = 'queued' OR ?5 = 'erased' THEN NULL "
                         "ELSE " OUTGOING_REPORT("?9") " END WHERE id = ?1 AND taken_by = ?2 "
                                                       "AND take_id = ?3 "
                                                       "AND state = ?10"};
    const struct slice none = {NULL, 0}, error = outcome->error.n ? outcome->error : none;
    const bool is_failed = strcmp(outcome->state, "failed") == 0;
    char code[OUTGOING_CODE_SIZE];
    if (!sql_run(store, &s, TEXT(outcome->id), TEXT(outcome->owner), TEXT(outcome->take_id),
                 TEXT(outcome->state), TEXT(outcome->reason), BLOB(error),
                 INTEGER(outcome->is_free), INTEGER(outcome->next_at), INTEGER(outcome->now),
                 TEXT(from)))
        return false;
    *is_ended = sql_changes(store) > 0;
    outgoing_read_code(is_failed ? error : none, code);
    return !*is_ended || (campaign_count_state(store, outcome->campaign_id, from, outcome->state) &&
                          campaign_count_error(store, outcome->campaign_id, code, 1));
}

/* What else the answer changes. */
static bool add_effects(struct store *store, const struct outgoing_outcome *outcome) {
    return (!outcome->opts_out || opt_out(store, outcome)) &&
           outgoing_write_streaks(store, outcome->streaks);
}

enum store_result store_end_outgoing(struct store *store, const struct outgoing_outcome *outcome) {
    while (sql_transact(store)) {
        bool is_ended = false;
        if (end_row(store, outcome, "sending", &is_ended) &&
            (is_ended || end_row(store, outcome, "unknown", &is_ended)) &&
            (!is_ended || add_effects(store, outcome)) && outcome->pause)
            campaign_pause_by(store, outcome);
    }
    return sql_result(store);
}

enum store_result store_list_unrecorded(struct store *store, struct arena *arena, size_t limit,
                                        struct store_outgoing **rows, size_t *count) {
    static struct statement s = {
        .sql = "SELECT " OUTGOING_COLUMNS " FROM outgoing o JOIN line l "
               "ON l.id = o.line_id WHERE o.state = 'accepted' AND o.is_recorded = 0 "
               "ORDER BY o.id LIMIT ?1"};
    sql_start(store, &s, INTEGER((int64_t)limit));
    *rows = row_list(store, &s, arena, &outgoing_layout, count);
    return sql_result(store);
}

enum store_result store_has_waiting_outgoing(struct store *store, bool *waits) {
    static struct statement s = {
        .sql = "SELECT 1 FROM outgoing WHERE finished_at IS NULL ORDER BY expires_at LIMIT 1"};
    static struct statement campaigns = {
        .sql = "SELECT 1 FROM campaign WHERE finished_at IS NULL ORDER BY id LIMIT 1"};
    sql_start_with(store, &s, NULL, 0);
    if ((*waits = row_exists(store, &s)))
        return sql_result(store);
    sql_start_with(store, &campaigns, NULL, 0);
    *waits = row_exists(store, &campaigns);
    return sql_result(store);
}

/* What waits for it may have been sent since, too. *is_one: there was one. */
static bool cancel_campaign(struct store *store, int64_t now, event_writer *write, bool *is_one) {
    static struct statement next = {
        .sql = "SELECT id FROM campaign WHERE finished_at IS NULL ORDER BY id LIMIT 1"};
    static struct statement s = {
        .sql = "UPDATE campaign SET state = 'cancelled', reason = 'restored', finished_at = ?2 "
               "WHERE id = ?1"};
    char id[ID_SIZE] = "";
    sql_start_with(store, &next, NULL, 0);
    *is_one = sql_read_id(store, &next, id);
    return *is_one ? sql_run(store, &s, TEXT(id), INTEGER(now)) &&
                         campaign_event_add(store, id, now, write)
                   : !sql_failed(store);
}

static bool cancel_campaigns(struct store *store, int64_t now, event_writer *write) {
    bool is_one = true;
    while (is_one)
        if (!cancel_campaign(store, now, write, &is_one))
            return false;
    return true;
}

enum store_result store_hold_outgoing(struct store *store, int64_t now, event_writer *write,
                                      size_t *held) {
#define HOLD(state)                                                                                \
    {                                                                                              \
        {.sql = "UPDATE outgoing SET state = 'unknown', reason = 'restored', finished_at = ?1, "   \
                "report_at = " OUTGOING_REPORT_UNKNOWN(                                            \
                    "?1") " WHERE state = '" state                                                 \
                          "' AND id IN (SELECT id FROM outgoing WHERE finished_at IS NULL "        \
                          "ORDER BY expires_at LIMIT ?2) RETURNING campaign_id"},                  \
            state, "unknown"                                                                       \
    }
    static struct campaign_transition queued = HOLD("queued"), sending = HOLD("sending");
    *held = 0;
    while (sql_transact(store)) {
        *held = 0;
        if (cancel_campaigns(store, now, write) &&
            campaign_count_run(store, &queued, held, INTEGER(now), INTEGER(ROWS_AT_ONCE)))
            campaign_count_run(store, &sending, held, INTEGER(now), INTEGER(ROWS_AT_ONCE));
    }
    return sql_result(store);
}
