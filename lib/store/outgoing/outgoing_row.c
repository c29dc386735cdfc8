#include "store/outgoing/outgoing_row.h"

#include <stdio.h>
#include <string.h>

#include "store/outgoing/campaign_count.h"

/* --- accepting --- */

enum { STATE_SIZE = 16, ERROR_MEMORY = 64 * 1024 * 1024 };

/* A row before it is accepted; state "": there is none. */
struct before {
    char state[STATE_SIZE];
    char code[OUTGOING_CODE_SIZE]; /* of a campaign: why it failed; "": it has not */
    struct outgoing_row row;
};

#define ROW_COLUMNS "o.id, o.campaign_id, o.reason = 'held', o.delivery, o.delivery_error"
enum { ROW_COLUMN_COUNT = 5 };

static void read_row(struct statement *s, struct arena *arena, struct outgoing_row *row) {
    column_id(s, 0, row->id);
    column_id(s, 1, row->campaign_id);
    row->is_held = column_integer(s, 2) != 0;
    if (!column_is_null(s, 3))
        snprintf(row->delivery, OUTGOING_STATUS_SIZE, "%s", column_text(s, 3, arena));
    outgoing_read_code(column_blob(s, 4, arena), row->code);
}

static bool read_before(struct store *store, const char *user_id, const char *id,
                        struct before *before) {
    static struct statement s = {.sql = "SELECT " ROW_COLUMNS
                                        ", o.state, CASE WHEN o.campaign_id IS NOT NULL "
                                        "AND o.state = 'failed' THEN o.error END FROM outgoing o "
                                        "WHERE o.id = ?1 AND o.user_id = ?2"};
    struct arena arena;
    *before = (struct before){0};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    if (!sql_row(store, &s))
        return !sql_failed(store);
    arena_init(&arena, ERROR_MEMORY, NULL);
    read_row(&s, &arena, &before->row);
    snprintf(before->state, STATE_SIZE, "%s", column_text(&s, ROW_COLUMN_COUNT, &arena));
    outgoing_read_code(column_blob(&s, ROW_COLUMN_COUNT + 1, &arena), before->code);
    arena_free(&arena);
    sql_stop(&s);
    return true;
}

static bool is_accepted(const struct before *before) {
    return strcmp(before->state, "accepted") == 0;
}

static bool count_accepted(struct store *store, const struct before *before, bool is_held) {
    const char *const campaign_id = before->row.campaign_id;
    return is_accepted(before) ||
           (campaign_count_state(store, campaign_id, before->state, "accepted") &&
            campaign_count_error(store, campaign_id, before->code, -1) &&
            campaign_count_delivery(store, campaign_id, "accepted", is_held ? "held" : "accepted"));
}

/* The row's text is in the message from now on. A row that changes meanwhile is read again. */
bool outgoing_accept(struct store *store, const struct store_send *send, bool *is_campaign) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET reason = CASE WHEN state = 'accepted' THEN reason ELSE ?6 END, "
               "finished_at = CASE WHEN state = 'accepted' THEN finished_at ELSE ?3 END, "
               "report_at = CASE WHEN state = 'accepted' THEN report_at ELSE " OUTGOING_REPORT(
                   "?3") " END, "
                         "state = 'accepted', error = NULL, wamid = ?2, is_recorded = 1, body = ?4 "
                         "WHERE id = ?1 AND state = ?5"};
    const bool is_held =
        send->message_status && strcmp(send->message_status, "held_for_quality_assessment") == 0;
    struct before before = {0};
    int changed = 0;
    while (send->outgoing_id && !changed) {
        if (!read_before(store, send->user_id, send->outgoing_id, &before))
            return false;
        if (!*before.state)
            break;
        if (!sql_run(store, &s, TEXT(send->outgoing_id), TEXT(send->wamid), INTEGER(send->now),
                     BLOB(SLICE("")), TEXT(before.state), TEXT(is_held ? "held" : NULL)))
            return false;
        changed = sql_changes(store);
    }
    *is_campaign = *before.row.campaign_id != '\0';
    return (!changed || count_accepted(store, &before, is_held)) &&
           outgoing_write_streaks(store, send->streaks);
}

/* Cancels what would send the message of a row again, if it waits. The empty texts keep
 * PostgreSQL from the index of all that waits. */
static bool cancel_retries(struct store *store, const char *user_id, const char *id, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET state = 'cancelled', reason = 'accepted_before', "
               "finished_at = ?3 WHERE user_id || '' = ?2 AND state || '' = 'queued' AND id IN ("
               "WITH RECURSIVE later (id) AS (SELECT retried_as FROM outgoing WHERE id = ?1 "
               "UNION SELECT o.retried_as FROM later JOIN outgoing o ON o.id = later.id) "
               "SELECT id FROM later)"};
    return sql_run_later(store, &s, TEXT(id), TEXT(user_id), INTEGER(now));
}

static bool is_row(const char *callback_data) {
    return callback_data && strncmp(callback_data, "out_", 4) == 0;
}

bool outgoing_confirm(struct store *store, const char *user_id, const char *callback_data,
                      const char *wamid, int64_t now, struct outgoing_row *row) {
    static struct statement s = {
        .sql =
            "UPDATE outgoing SET state = 'accepted', reason = NULL, error = NULL, wamid = ?2, "
            "finished_at = ?3, report_at = " OUTGOING_REPORT("?3") " WHERE id = ?1 AND state = ?4"};
    struct before before = {0};
    int changed = 0;
    *row = before.row;
    if (!is_row(callback_data))
        return true;
    do {
        if (!read_before(store, user_id, callback_data, &before))
            return false;
        if (!*before.state || is_accepted(&before))
            break;
        if (!sql_run(store, &s, TEXT(callback_data), TEXT(wamid), INTEGER(now), TEXT(before.state)))
            return false;
        changed = sql_changes(store);
    } while (!changed);
    *row = before.row;
    return (!changed || count_accepted(store, &before, false)) &&
           cancel_retries(store, user_id, callback_data, now);
}

/* --- the row of a message --- */

/* SQL: of the row of the message ?1 of a campaign, by what the message has of its recipient, or by
 * another name of that, since the platform may have changed the spelling of the phone. A user or a
 * line has too many rows: SQLite reads the tables in the order of a CROSS JOIN, and the empty text
 * keeps PostgreSQL from the index of lines. */
#define OF_MESSAGE(columns)                                                                        \
    OF_RECIPIENT(columns, "", "m.phone")                                                           \
    " UNION ALL " OF_RECIPIENT(columns, "", "m.bsuid") " UNION ALL " OF_RECIPIENT(                 \
        columns,                                                                                   \
        "JOIN thread t ON t.id = m.thread_id JOIN contact_alias a "                                \
        "ON a.contact_id = t.contact_id ",                                                         \
        "a.identity")
#define OF_RECIPIENT(columns, more, recipient)                                                     \
    "SELECT " columns " FROM message m " more "CROSS JOIN outgoing o WHERE m.id = ?1 "             \
    "AND m.is_campaign = 1 AND o.user_id = m.user_id AND o.recipient = " recipient                 \
    " AND o.wamid = m.wamid AND o.line_id || '' = m.line_id"

bool outgoing_find_row(struct store *store, const char *message_id, struct outgoing_row *row) {
    static struct statement s = {.sql = OF_MESSAGE(ROW_COLUMNS) " LIMIT 1"};
    struct arena arena;
    sql_start(store, &s, TEXT(message_id));
    if (!sql_row(store, &s))
        return !sql_failed(store);
    arena_init(&arena, ERROR_MEMORY, NULL);
    read_row(&s, &arena, row);
    arena_free(&arena);
    sql_stop(&s);
    return true;
}

bool outgoing_keep_delivery(struct store *store, const char *message_id, const char *thread_id) {
#define IDS_OF_MESSAGE OF_MESSAGE("o.id")
    static struct statement s = {
        .sql = "UPDATE outgoing SET (delivery, delivery_error) = "
               "(SELECT m.status, m.error FROM message m WHERE m.id = ?1) "
               "WHERE delivery IS NULL AND id IN (" IDS_OF_MESSAGE ") AND EXISTS "
               "(SELECT 1 FROM message m WHERE m.id = ?1 AND m.thread_id = ?2)"};
    return sql_run_later(store, &s, TEXT(message_id), TEXT(thread_id));
}

bool outgoing_set_delivery(struct store *store, const char *id, const char *status,
                           struct slice error) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET delivery = ?2, delivery_error = ?3 WHERE id = ?1"};
    return sql_run_later(store, &s, TEXT(id), TEXT(status), BLOB(error));
}

bool outgoing_waits(struct store *store, const char *account_id, const char *const *recipients,
                    size_t count) {
    static struct statement s = {.sql = "SELECT 1 FROM outgoing WHERE account_id = ?1 "
                                        "AND recipient = ?2 AND finished_at IS NULL LIMIT 1"};
    for (size_t i = 0; i < count; i++) {
        sql_start(store, &s, TEXT(account_id), TEXT(recipients[i]));
        if (row_exists(store, &s))
            return true;
    }
    return false;
}
