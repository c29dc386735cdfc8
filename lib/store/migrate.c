/* Creating the database, and migrating an older one; by the CLI only. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "store/copy.h"
#include "store/schema.h"

/* Version 1 to 2. */
static const char *const to_2[] = {
    /* no statement searches for contacts without a parent */
    "DROP INDEX contact_parent",
    "CREATE INDEX contact_parent ON contact (account_id, parent_bsuid) "
    "WHERE parent_bsuid IS NOT NULL",
    /* a key belonged to user and route; of one key on several routes the newest answer stays, and a
     * repetition on the other routes is refused as the key of another route */
    "CREATE TABLE idempotency_2 ("
    "user_id TEXT NOT NULL REFERENCES user (id), "
    "key TEXT NOT NULL, "
    "route TEXT NOT NULL, "
    "fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32), "
    "request_id TEXT NOT NULL, "
    "status INTEGER, "
    "answer BLOB, "
    "wamid TEXT, "
    "wa_id TEXT, "
    "created_at INTEGER NOT NULL, "
    "PRIMARY KEY (user_id, key), "
    "CHECK ((status IS NULL) = (answer IS NULL))) STRICT",
    "INSERT INTO idempotency_2 SELECT user_id, key, route, fingerprint, request_id, status, "
    "answer, wamid, wa_id, created_at FROM (SELECT *, row_number() OVER (PARTITION BY user_id, key "
    "ORDER BY status IS NULL, created_at DESC, route) AS place FROM idempotency) WHERE place = 1",
    "DROP TABLE idempotency",
    "ALTER TABLE idempotency_2 RENAME TO idempotency",
    "CREATE INDEX idempotency_age ON idempotency (created_at)",
    "CREATE INDEX idempotency_open ON idempotency (request_id) WHERE coalesce(status, 0) <> 200",
    /* indexes for each contact's first waiting event, and for events without an order */
    "DROP INDEX event_contact",
    "CREATE INDEX event_contact ON event (contact_id, lease_until) WHERE state = 'pending'",
    "CREATE INDEX event_first ON event (user_id, contact_id, sequence) "
    "WHERE state = 'pending' AND attempts = 0 AND contact_id IS NOT NULL",
    "CREATE INDEX event_unordered ON event (user_id, next_attempt_at, sequence) "
    "WHERE state = 'pending' AND (attempts > 0 OR contact_id IS NULL)",
    "CREATE TABLE event_turn (user_id TEXT PRIMARY KEY REFERENCES user (id), "
    "turn INTEGER NOT NULL, contact_id TEXT NOT NULL, round_end TEXT NOT NULL) STRICT",
    /* payloads that were too large to be stored at once */
    "CREATE TABLE webhook_refusal (id TEXT PRIMARY KEY, "
    "hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), reason TEXT NOT NULL, "
    "size INTEGER NOT NULL, updates INTEGER, count INTEGER NOT NULL, first_at INTEGER NOT NULL, "
    "last_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
    "CREATE INDEX webhook_refusal_age ON webhook_refusal (last_at, size)",
    /* WABA ids of other accounts, under which updates for a line arrived */
    "CREATE TABLE foreign_waba (line_id TEXT NOT NULL REFERENCES line (id), "
    "waba_id TEXT NOT NULL, count INTEGER NOT NULL, first_at INTEGER NOT NULL, "
    "last_at INTEGER NOT NULL, PRIMARY KEY (line_id, waba_id)) STRICT",
    "CREATE INDEX foreign_waba_age ON foreign_waba (last_at)",
    /* a replayed event belongs to the contact that its own was merged into */
    "CREATE INDEX contact_merge_merged ON contact_merge (merged_id) WHERE merged_id IS NOT NULL",
    /* replies are counted when they arrive, not when flows are searched */
    "CREATE TABLE flow_reply_count ("
    "account_id TEXT NOT NULL REFERENCES account (id), "
    "flow_id TEXT NOT NULL, "
    "responses INTEGER NOT NULL, "
    "PRIMARY KEY (account_id, flow_id)) STRICT",
    "INSERT INTO flow_reply_count (account_id, flow_id, responses) "
    "SELECT account_id, flow_id, count(*) FROM flow_response WHERE flow_id IS NOT NULL "
    "GROUP BY account_id, flow_id",
    "DROP INDEX flow_response_flow",
    /* dead events are kept longer than others: each state has its own age */
    "DROP INDEX event_finished",
    "CREATE INDEX event_finished ON event (state, finished_at) WHERE finished_at IS NOT NULL",
    "CREATE INDEX event_failed ON event (id) WHERE last_error IS NOT NULL",
    NULL,
};

/* The numbered steps: `sql` migrates version to - 1 to version `to`. schema.sql is the result of
 * all steps; a test compares the two. */
static const struct {
    int to;
    const char *const *sql;
} steps[] = {
    {2, to_2},
};

/* Creates an empty file; SQLite gives its -wal and -shm the same mode. */
static void create_file(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0660);
    if (fd >= 0)
        close(fd);
}

static bool set_version(struct store *store, int version) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
    return sql_script(store, sql);
}

static void create_schema(struct store *store) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d", SCHEMA_APPLICATION_ID);
    if (sql_script(store, schema_sql) && sql_script(store, sql))
        set_version(store, SCHEMA_VERSION);
}

static bool run_step(struct store *store, const char *const *sql) {
    for (; *sql; sql++)
        if (!sql_script(store, *sql))
            return false;
    return true;
}

static void run_steps(struct store *store, int version) {
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].to > version &&
            (!run_step(store, steps[i].sql) || !set_version(store, steps[i].to)))
            return;
}

/* Reads the schema version, 0 for an empty file. Refuses the database of another program. */
static enum store_result read_version(struct store *store, int *version) {
    sql_script(store, "BEGIN"); /* one snapshot: another process may be creating it */
    int64_t found = sql_integer(store, "PRAGMA user_version");
    int64_t application = sql_integer(store, "PRAGMA application_id");
    int64_t tables = sql_integer(store, "SELECT count(*) FROM sqlite_master");
    enum store_result result = sql_commit(store);
    if (result != STORE_OK)
        return result;
    *version = (int)found;
    if ((found != 0) != (tables != 0) || (found && application != SCHEMA_APPLICATION_ID))
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it belongs to another program and was not changed");
    if (found > SCHEMA_VERSION)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has schema version %d, made by a newer program; this one supports %d",
                          (int)found, SCHEMA_VERSION);
    return STORE_OK;
}

static enum store_result copy_first(struct store *store, const char *path, int version) {
    char target[4200];
    snprintf(target, sizeof target, "%s.before-v%d", path, version + 1);
    unlink(target); /* left by a migration that failed */
    return sql_copy(store, target);
}

/* Switches to the write-ahead log, where readers and writers do not block each other. The switch
 * happens outside of transactions, and SQLite does not wait for another process that switches, too.
 */
static enum store_result switch_to_wal(struct store *store) {
    enum store_result result = STORE_BUSY;
    for (int i = 0; i < 100 && result == STORE_BUSY; i++) {
        if (i)
            nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
        sql_script(store, "PRAGMA journal_mode = WAL");
        result = sql_result(store);
    }
    return result;
}

/* Migrates with the write lock: another process may have migrated since `*from` was read. */
static enum store_result migrate(struct store *store, int *from) {
    if (sql_begin(store)) {
        *from = (int)sql_integer(store, "PRAGMA user_version");
        if (*from == 0)
            create_schema(store);
        else if (*from < SCHEMA_VERSION)
            run_steps(store, *from);
    }
    return sql_commit(store);
}

enum store_result store_migrate(const char *path, int *from, int *to, struct store **out) {
    create_file(path);
    enum store_result result = sql_open(path, SQLITE_OPEN_READWRITE, out);
    *to = SCHEMA_VERSION;
    if (result == STORE_OK)
        result = read_version(*out, from);
    if (result == STORE_OK && *from > 0 && *from < SCHEMA_VERSION)
        result = copy_first(*out, path, *from);
    if (result != STORE_OK)
        return result;
    result = switch_to_wal(*out);
    return result == STORE_OK ? migrate(*out, from) : result;
}
