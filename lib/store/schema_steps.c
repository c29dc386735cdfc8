#include "store/schema_steps.h"

#define ON_CHANGE(name, event)                                                                     \
    "CREATE TRIGGER " name " AFTER " event " BEGIN "                                               \
    "UPDATE settings_version SET version = random(); END"

#define ON_CHANGES(name, table, update)                                                            \
    ON_CHANGE(name "_settings_insert", "INSERT ON " table),                                        \
        ON_CHANGE(name "_settings_update", update " ON " table),                                   \
        ON_CHANGE(name "_settings_delete", "DELETE ON " table)

/* Heartbeats have a host. The old ones are dropped: a courier writes another within seconds.
 * Changes of the rows by which requests are authorized are numbered. */
static const char *const to_6[] = {
    "DROP TABLE heartbeat",
    "CREATE TABLE heartbeat (name TEXT NOT NULL, host TEXT NOT NULL DEFAULT '', "
    "pid INTEGER NOT NULL, beat_at INTEGER NOT NULL, keys TEXT NOT NULL DEFAULT '', "
    "clock_ahead_ms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, host)) STRICT",
    "CREATE TABLE settings_version (id INTEGER PRIMARY KEY CHECK (id = 1), "
    "version INTEGER NOT NULL) STRICT",
    "INSERT INTO settings_version (id, version) VALUES (1, 0)",
    ON_CHANGES("user", "\"user\"",
               "UPDATE OF id, email, default_account_id, primary_line_id, deleted_at"),
    ON_CHANGES("api_token", "api_token", "UPDATE"),
    ON_CHANGES("plan", "plan", "UPDATE"),
    ON_CHANGES("account", "account", "UPDATE"),
    ON_CHANGES("line", "line", "UPDATE"),
    NULL,
};

static const char *const to_7[] = {NULL};

/* Within a CREATE TABLE of sqlite_schema: a list of values ends after `last`, and the next value
 * begins another list. */
#define DIVIDE(tables, column, last)                                                               \
    "UPDATE sqlite_schema SET sql = replace(sql, '''" last "'', ', '''" last "'') OR " column      \
    " IN (') WHERE type = 'table' AND name IN (" tables ")"

/* The same before the last value. */
#define DIVIDE_END(table, column, last, end)                                                       \
    "UPDATE sqlite_schema SET sql = replace(sql, '''" last "'', ''" end "'')', '''" last           \
    "'') OR " column " = ''" end "''') WHERE type = 'table' AND name = '" table "'"

/* SQLite makes a temporary table for a list of more than two values, in each statement that checks
 * one. The rows of usage are in the tree of their key, so that counting writes one page. */
static const char *const to_7_in_sqlite[] = {
    "CREATE TABLE usage_7 (user_id TEXT NOT NULL REFERENCES user (id), hour INTEGER NOT NULL, "
    "line_id TEXT NOT NULL REFERENCES line (id), measure TEXT NOT NULL CHECK (measure IN "
    "('in', 'out') OR measure IN ('sent', 'delivered') OR measure IN ('read', 'failed') OR measure "
    "IN ('marketing', 'utility') OR measure IN ('authentication', 'service')), count INTEGER NOT "
    "NULL, PRIMARY KEY (user_id, hour, line_id, measure)) STRICT, WITHOUT ROWID",
    "INSERT INTO usage_7 SELECT user_id, hour, line_id, measure, count FROM usage",
    "DROP TABLE usage",
    "ALTER TABLE usage_7 RENAME TO usage",
    DIVIDE("'message'", "source", "webhook"),
    DIVIDE_END("message", "source", "history", "status"),
    DIVIDE("'message'", "status", "accepted"),
    DIVIDE("'message'", "status", "delivered"),
    DIVIDE_END("message", "status", "played", "failed"),
    DIVIDE("'event', 'delivery'", "state", "done"),
    DIVIDE_END("lead", "source", "ad", "lead_event"),
    NULL,
};

const struct schema_step schema_steps[] = {
    {6, to_6, NULL, NULL},
    {7, to_7, NULL, to_7_in_sqlite},
    {0},
};
