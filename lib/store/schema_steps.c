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

const struct schema_step schema_steps[] = {
    {6, to_6, NULL},
    {0},
};
