/* Creating the database, and migrating an older one; by the CLI only. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "store/contact_term.h"
#include "store/copy.h"
#include "store/schema.h"
#include "store/schema_steps.h"

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

/* The owner of a line. A row without one is an error, which ends the migration. */
#define USER_OF_LINE                                                                               \
    "(SELECT a.user_id FROM line l JOIN account a ON a.id = l.account_id WHERE l.id = line_id)"

/* Version 2 to 3: the rows that named only a line, contact, message or event name their customer
 * too. NOT NULL columns cannot be added to a table with
 * rows, so the tables are copied. flow_response has no new column, but it references `message`:
 * dropping that table deletes its rows, which the references of the old flow_response forbid. A
 * renamed table keeps the references to it. The copies are made first, since a message's statuses
 * and threads are found in them. */
static const char *const to_3[] = {
    "CREATE TABLE thread_3 ("
    "id TEXT PRIMARY KEY, "
    "user_id TEXT NOT NULL REFERENCES user (id), "
    "line_id TEXT NOT NULL REFERENCES line (id), "
    "contact_id TEXT NOT NULL REFERENCES contact (id), "
    "created_at INTEGER NOT NULL, "
    "last_message_at INTEGER NOT NULL, "
    "UNIQUE (line_id, contact_id), "
    "UNIQUE (id, line_id)) STRICT",
    "INSERT INTO thread_3 SELECT id, " USER_OF_LINE ", line_id, contact_id, created_at, "
    "last_message_at FROM thread",
    "CREATE TABLE message_3 ("
    "id TEXT PRIMARY KEY, "
    "user_id TEXT NOT NULL REFERENCES user (id), "
    "thread_id TEXT NOT NULL, "
    "line_id TEXT NOT NULL, "
    "wamid TEXT NOT NULL CHECK (wamid <> ''), "
    "direction TEXT NOT NULL CHECK (direction IN ('in', 'out')), "
    "source TEXT NOT NULL CHECK (source IN ('api', 'webhook', 'echo', 'history', 'status')), "
    "type TEXT NOT NULL, "
    "status TEXT NOT NULL CHECK (status IN "
    "('received', 'accepted', 'sent', 'delivered', 'read', 'played', 'failed')), "
    "status_at INTEGER NOT NULL, "
    "timestamp INTEGER NOT NULL, "
    "context_wamid TEXT, "
    "body BLOB NOT NULL, "
    "error BLOB, "
    "created_at INTEGER NOT NULL, "
    "UNIQUE (line_id, wamid), "
    "FOREIGN KEY (thread_id, line_id) REFERENCES thread_3 (id, line_id)) STRICT",
    "INSERT INTO message_3 SELECT id, " USER_OF_LINE ", thread_id, line_id, wamid, direction, "
    "source, type, status, status_at, timestamp, context_wamid, body, error, created_at "
    "FROM message",
    "CREATE TABLE message_status_3 ("
    "user_id TEXT NOT NULL REFERENCES user (id), "
    "message_id TEXT NOT NULL REFERENCES message_3 (id), "
    "status TEXT NOT NULL, "
    "recipient TEXT NOT NULL, "
    "timestamp INTEGER NOT NULL, "
    "body BLOB NOT NULL, "
    "received_at INTEGER NOT NULL, "
    "PRIMARY KEY (message_id, status, recipient)) STRICT",
    "INSERT INTO message_status_3 SELECT (SELECT m.user_id FROM message_3 m "
    "WHERE m.id = message_id), message_id, status, recipient, timestamp, body, received_at "
    "FROM message_status",
    "CREATE TABLE flow_response_3 ("
    "message_id TEXT PRIMARY KEY REFERENCES message_3 (id), "
    "account_id TEXT NOT NULL REFERENCES account (id), "
    "flow_id TEXT) STRICT",
    "INSERT INTO flow_response_3 SELECT message_id, account_id, flow_id FROM flow_response",
    "DROP TABLE flow_response",
    "DROP TABLE message_status",
    "DROP TABLE message",
    "DROP TABLE thread",
    "ALTER TABLE thread_3 RENAME TO thread",
    "ALTER TABLE message_3 RENAME TO message",
    "ALTER TABLE message_status_3 RENAME TO message_status",
    "ALTER TABLE flow_response_3 RENAME TO flow_response",
    "CREATE INDEX thread_contact ON thread (contact_id)",
    "CREATE INDEX message_thread ON message (thread_id, timestamp)",
    "CREATE TABLE contact_block_3 ("
    "user_id TEXT NOT NULL REFERENCES user (id), "
    "line_id TEXT NOT NULL REFERENCES line (id), "
    "contact_id TEXT NOT NULL REFERENCES contact (id), "
    "created_at INTEGER NOT NULL, "
    "PRIMARY KEY (line_id, contact_id)) STRICT",
    "INSERT INTO contact_block_3 SELECT " USER_OF_LINE ", line_id, contact_id, created_at "
    "FROM contact_block",
    "DROP TABLE contact_block",
    "ALTER TABLE contact_block_3 RENAME TO contact_block",
    "CREATE INDEX contact_block_contact ON contact_block (contact_id)",
    "CREATE TABLE event_attempt_3 ("
    "user_id TEXT NOT NULL REFERENCES user (id), "
    "event_id TEXT NOT NULL REFERENCES event (id), "
    "attempt INTEGER NOT NULL, "
    "started_at INTEGER NOT NULL, "
    "duration_ms INTEGER NOT NULL, "
    "http_status INTEGER, "
    "error TEXT, "
    "address TEXT, "
    "response_head BLOB, "
    "PRIMARY KEY (event_id, attempt)) STRICT",
    "INSERT INTO event_attempt_3 SELECT (SELECT e.user_id FROM event e WHERE e.id = event_id), "
    "event_id, attempt, started_at, duration_ms, http_status, error, address, response_head "
    "FROM event_attempt",
    "DROP TABLE event_attempt",
    "ALTER TABLE event_attempt_3 RENAME TO event_attempt",
    "CREATE TABLE lead_3 ("
    "user_id TEXT NOT NULL REFERENCES user (id), "
    "contact_id TEXT NOT NULL REFERENCES contact (id), "
    "source TEXT NOT NULL CHECK (source IN ('new_contact', 'ad', 'lead_event')), "
    "created_at INTEGER NOT NULL, "
    "PRIMARY KEY (contact_id, source)) STRICT",
    "INSERT INTO lead_3 SELECT (SELECT a.user_id FROM contact c "
    "JOIN account a ON a.id = c.account_id WHERE c.id = contact_id), contact_id, source, "
    "created_at FROM lead",
    "DROP TABLE lead",
    "ALTER TABLE lead_3 RENAME TO lead",
    NULL,
};

/* The hour of a time, and the sum of a measure over the selected rows `r`. */
#define HOUR(time) "(" time ") / 3600000"
#define COUNT_USAGE(measure, time, rows)                                                           \
    "INSERT INTO usage (user_id, hour, line_id, measure, count) SELECT user_id, " HOUR(            \
        time) " AS hour, line_id, " measure ", count(*) FROM (" rows ") r GROUP BY 1, 2, 3, 4"

/* The first status of each message that proves that it reached a state, with the message's owner.
 * Without an aggregate of min, SQLite would take the body of any row. */
#define FIRST_STATUS(states)                                                                       \
    "SELECT m.user_id, m.line_id, min(s.received_at) AS at, s.body FROM message_status s "         \
    "JOIN message m ON m.id = s.message_id WHERE m.direction = 'out' AND s.status IN (" states     \
    ") GROUP BY s.message_id"

/* Version 3 to 4. */
static const char *const to_4[] = {
    /* sessions of the dashboard */
    "ALTER TABLE api_token ADD COLUMN last4 TEXT",
    "CREATE TABLE user_password (user_id TEXT PRIMARY KEY REFERENCES user (id), "
    "hash TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT",
    "CREATE TABLE session (id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES user (id), "
    "hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), "
    "is_by_link INTEGER NOT NULL CHECK (is_by_link IN (0, 1)), address TEXT NOT NULL, "
    "agent TEXT NOT NULL, created_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, "
    "expires_at INTEGER NOT NULL) STRICT",
    "CREATE INDEX session_user ON session (user_id, created_at, id)",
    "CREATE INDEX session_age ON session (expires_at)",
    "CREATE TABLE login_link (user_id TEXT PRIMARY KEY REFERENCES user (id), "
    "hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), expires_at INTEGER NOT NULL) STRICT",
    "CREATE INDEX login_link_age ON login_link (expires_at)",
    "CREATE TABLE login_failure (subject TEXT PRIMARY KEY, failures INTEGER NOT NULL, "
    "attempt_id TEXT NOT NULL, blocked_until INTEGER NOT NULL, forget_at INTEGER NOT NULL) STRICT",
    "CREATE INDEX login_failure_age ON login_failure (forget_at)",
    /* --- the inbox: what is unread, what changed, and the words by which contacts are found.
     * Messages from before count as read and unchanged. */
    "ALTER TABLE user ADD COLUMN change_sequence INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE thread ADD COLUMN last_inbound_at INTEGER",
    "ALTER TABLE thread ADD COLUMN unread INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE thread ADD COLUMN changed INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE message ADD COLUMN changed INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX thread_recent ON thread (user_id, last_message_at, id)",
    "CREATE INDEX thread_recent_line ON thread (line_id, last_message_at, id)",
    "CREATE INDEX thread_recent_unread ON thread (user_id, last_message_at, id) WHERE unread > 0",
    "CREATE INDEX thread_changed ON thread (user_id, changed)",
    "DROP INDEX message_thread",
    "CREATE INDEX message_thread ON message (thread_id, timestamp, id)",
    "CREATE INDEX message_changed ON message (thread_id, changed, id)",
    "UPDATE thread SET last_inbound_at = (SELECT m.timestamp FROM message m "
    "WHERE m.thread_id = thread.id AND m.direction = 'in' "
    "ORDER BY m.timestamp DESC, m.id DESC LIMIT 1)",
    "CREATE TABLE thread_alias (id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES user (id), "
    "thread_id TEXT NOT NULL REFERENCES thread (id)) STRICT",
    "CREATE INDEX thread_alias_thread ON thread_alias (thread_id)",
    "CREATE TABLE contact_term (account_id TEXT NOT NULL REFERENCES account (id), "
    "term TEXT NOT NULL, contact_id TEXT NOT NULL REFERENCES contact (id), "
    "PRIMARY KEY (account_id, term, contact_id)) STRICT",
    "CREATE INDEX contact_term_contact ON contact_term (contact_id, term)",
    /* the operations: a user's events by state, type and failure */
    "CREATE INDEX event_owner ON event (user_id, id)",
    "CREATE INDEX event_owner_pending ON event (user_id, id) WHERE state = 'pending'",
    "CREATE INDEX event_owner_finished ON event (user_id, state, id) "
    "WHERE finished_at IS NOT NULL",
    "CREATE INDEX event_owner_type ON event (user_id, type, id)",
    "CREATE INDEX event_owner_failed ON event (user_id, id) WHERE last_error IS NOT NULL",
    /* the answers to a form */
    "CREATE INDEX flow_response_list ON flow_response (account_id, flow_id, message_id) "
    "WHERE flow_id IS NOT NULL",
    /* usage, counted from the stored messages and statuses */
    "CREATE TABLE usage (user_id TEXT NOT NULL REFERENCES user (id), hour INTEGER NOT NULL, "
    "line_id TEXT NOT NULL REFERENCES line (id), measure TEXT NOT NULL CHECK (measure IN "
    "('in', 'out', 'sent', 'delivered', 'read', 'failed', 'marketing', 'utility', "
    "'authentication', 'service')), count INTEGER NOT NULL, "
    "PRIMARY KEY (user_id, hour, line_id, measure)) STRICT",
    COUNT_USAGE("direction", "created_at", "SELECT * FROM message WHERE source <> 'history'"),
    COUNT_USAGE("'sent'", "at",
                "SELECT user_id, line_id, created_at AS at FROM message WHERE source = 'echo' "
                "UNION ALL SELECT user_id, line_id, at FROM (" FIRST_STATUS(
                    "'sent', 'delivered', 'read', 'played'") " HAVING m.source <> 'echo')"),
    COUNT_USAGE("'delivered'", "at", FIRST_STATUS("'delivered', 'read', 'played'")),
    COUNT_USAGE("'read'", "at", FIRST_STATUS("'read', 'played'")),
    COUNT_USAGE("'failed'", "at", FIRST_STATUS("'failed'")),
    COUNT_USAGE(
        "category", "at",
        "SELECT user_id, line_id, at, "
        "CASE WHEN json_valid(CAST(body AS TEXT)) "
        "THEN json_extract(CAST(body AS TEXT), '$.pricing.category') END AS category "
        "FROM (" FIRST_STATUS("'delivered', 'read', 'played'") ") WHERE category IN "
                                                               "('marketing', 'utility', "
                                                               "'authentication', 'service')"),
    NULL,
};

/* The id of the one webhook that a user had before version 5. */
#define WEBHOOK_OF "'whk_' || substr(user_id, 5)"

/* Version 4 to 5: a user has any number of webhooks, and an event a delivery to each. The events
 * are copied without what belongs to the delivery now. Copies are made before the tables that are
 * referenced are dropped, as in to_3. */
static const char *const to_5[] = {
    "ALTER TABLE user ADD COLUMN forward_sequence INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE user ADD COLUMN verifying_until INTEGER NOT NULL DEFAULT 0",
    "CREATE TABLE webhook_5 (id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES user (id), "
    "name TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL CHECK (kind IN ('event', 'forward')), "
    "url TEXT NOT NULL DEFAULT '', code BLOB, previous_code BLOB, previous_until INTEGER, "
    "event_types TEXT, line_ids TEXT, fields TEXT, "
    "splits_messages INTEGER NOT NULL DEFAULT 0 CHECK (splits_messages IN (0, 1)), "
    "paused_at INTEGER, failing_since INTEGER, suspended_at INTEGER, next_probe_at INTEGER, "
    "created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER, "
    "CHECK ((previous_code IS NULL) = (previous_until IS NULL))) STRICT",
    "INSERT INTO webhook_5 (id, user_id, kind, url, code, previous_code, previous_until, "
    "event_types, failing_since, suspended_at, next_probe_at, created_at, updated_at) "
    "SELECT " WEBHOOK_OF ", user_id, 'event', url, code, previous_code, previous_until, "
    "CASE WHEN wants_message_status = 1 THEN 'message.received lead.created message.status' END, "
    "failing_since, suspended_at, next_probe_at, updated_at, updated_at FROM webhook",
    /* events have a webhook even if it was never set */
    "INSERT INTO webhook_5 (id, user_id, kind, created_at, updated_at) "
    "SELECT 'whk_' || substr(u.id, 5), u.id, 'event', u.created_at, u.created_at FROM user u "
    "WHERE NOT EXISTS (SELECT 1 FROM webhook w WHERE w.user_id = u.id) "
    "AND EXISTS (SELECT 1 FROM event e WHERE e.user_id = u.id)",
    "CREATE TABLE platform_post (id TEXT PRIMARY KEY, "
    "hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), body BLOB NOT NULL, "
    "created_at INTEGER NOT NULL) STRICT",
    "CREATE TABLE event_5 (id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES user (id), "
    "is_forward INTEGER NOT NULL DEFAULT 0 CHECK (is_forward IN (0, 1)), "
    "sequence INTEGER NOT NULL, type TEXT NOT NULL, contact_id TEXT, line_id TEXT, body BLOB, "
    "post_id TEXT REFERENCES platform_post (id), parts TEXT, "
    "state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'dead', 'cancelled')), "
    "has_error INTEGER NOT NULL DEFAULT 0 CHECK (has_error IN (0, 1)), "
    "created_at INTEGER NOT NULL, finished_at INTEGER, "
    "UNIQUE (user_id, is_forward, sequence), "
    "CHECK ((body IS NULL) <> (post_id IS NULL))) STRICT",
    "INSERT INTO event_5 (id, user_id, sequence, type, contact_id, body, state, has_error, "
    "created_at, finished_at) SELECT id, user_id, sequence, type, contact_id, body, state, "
    "last_error IS NOT NULL, created_at, finished_at FROM event",
    "CREATE TABLE delivery (event_id TEXT NOT NULL REFERENCES event_5 (id), "
    "webhook_id TEXT NOT NULL REFERENCES webhook_5 (id), "
    "user_id TEXT NOT NULL REFERENCES user (id), sequence INTEGER NOT NULL, order_key TEXT, "
    "state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'dead', 'cancelled')), "
    "attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at INTEGER NOT NULL, "
    "lease_until INTEGER NOT NULL DEFAULT 0, lease_owner TEXT, last_attempt_at INTEGER, "
    "last_status INTEGER, last_error TEXT, created_at INTEGER NOT NULL, finished_at INTEGER, "
    "PRIMARY KEY (event_id, webhook_id)) STRICT",
    "INSERT INTO delivery SELECT id, " WEBHOOK_OF ", user_id, sequence, contact_id, state, "
    "attempts, next_attempt_at, lease_until, lease_owner, "
    "(SELECT max(a.started_at) FROM event_attempt a WHERE a.event_id = event.id), last_status, "
    "last_error, created_at, finished_at FROM event",
    "CREATE TABLE event_turn_5 (webhook_id TEXT PRIMARY KEY REFERENCES webhook_5 (id), "
    "turn INTEGER NOT NULL, order_key TEXT NOT NULL, round_end TEXT NOT NULL) STRICT",
    "INSERT INTO event_turn_5 SELECT w.id, t.turn, t.contact_id, t.round_end "
    "FROM event_turn t JOIN webhook_5 w ON w.user_id = t.user_id",
    "CREATE TABLE event_attempt_5 (user_id TEXT NOT NULL REFERENCES user (id), "
    "event_id TEXT NOT NULL REFERENCES event_5 (id), webhook_id TEXT NOT NULL, "
    "attempt INTEGER NOT NULL, started_at INTEGER NOT NULL, duration_ms INTEGER NOT NULL, "
    "http_status INTEGER, error TEXT, address TEXT, response_head BLOB, "
    "PRIMARY KEY (event_id, webhook_id, attempt)) STRICT",
    "INSERT INTO event_attempt_5 SELECT user_id, event_id, " WEBHOOK_OF ", attempt, started_at, "
    "duration_ms, http_status, error, address, response_head FROM event_attempt",
    "DROP TABLE event_turn",
    "DROP TABLE event_attempt",
    "DROP TABLE event",
    "DROP TABLE webhook",
    "ALTER TABLE webhook_5 RENAME TO webhook",
    "ALTER TABLE event_5 RENAME TO event",
    "ALTER TABLE event_turn_5 RENAME TO event_turn",
    "ALTER TABLE event_attempt_5 RENAME TO event_attempt",
    "CREATE INDEX webhook_user ON webhook (user_id, created_at, id) WHERE deleted_at IS NULL",
    "CREATE INDEX webhook_deleted ON webhook (deleted_at) WHERE deleted_at IS NOT NULL",
    "CREATE INDEX event_finished ON event (state, finished_at) WHERE finished_at IS NOT NULL",
    "CREATE INDEX event_failed ON event (id) WHERE has_error = 1",
    "CREATE INDEX event_owner ON event (user_id, id)",
    "CREATE INDEX event_owner_pending ON event (user_id, id) WHERE state = 'pending'",
    "CREATE INDEX event_owner_finished ON event (user_id, state, id) "
    "WHERE finished_at IS NOT NULL",
    "CREATE INDEX event_owner_type ON event (user_id, type, id)",
    "CREATE INDEX event_owner_failed ON event (user_id, id) WHERE has_error = 1",
    "CREATE INDEX event_post ON event (post_id) WHERE post_id IS NOT NULL",
    "CREATE INDEX delivery_webhook ON delivery (webhook_id, event_id)",
    "CREATE INDEX delivery_ended ON delivery (webhook_id, state, event_id) "
    "WHERE state = 'dead' OR state = 'cancelled'",
    "CREATE INDEX delivery_failed ON delivery (webhook_id, event_id) WHERE last_error IS NOT NULL",
    "CREATE INDEX delivery_due ON delivery (webhook_id, next_attempt_at, sequence) "
    "WHERE state = 'pending'",
    "CREATE INDEX delivery_order ON delivery (order_key, webhook_id, lease_until) "
    "WHERE state = 'pending'",
    "CREATE INDEX delivery_first ON delivery (webhook_id, order_key, sequence) "
    "WHERE state = 'pending' AND attempts = 0 AND order_key IS NOT NULL",
    "CREATE INDEX delivery_unordered ON delivery (webhook_id, next_attempt_at, sequence) "
    "WHERE state = 'pending' AND (attempts > 0 OR order_key IS NULL)",
    NULL,
};

/* The steps before those of schema_steps: there were only SQLite databases. */
static const struct schema_step first_steps[] = {
    {2, to_2, NULL, NULL},
    {3, to_3, NULL, NULL},
    {4, to_4, contact_term_fill, NULL},
    {5, to_5, NULL, NULL},
    {0},
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

/* Runs statements that may write sqlite_schema, and has all connections read it again. */
static bool run_on_schema(struct store *store, const char *const *sql) {
    char version[64];
    if (!sql)
        return true;
    sqlite3_db_config(sql_handle(store), SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    sqlite3_db_config(sql_handle(store), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    bool done = run_step(store, sql);
    snprintf(version, sizeof version, "PRAGMA schema_version = %d",
             (int)sql_integer(store, "PRAGMA schema_version") + 1);
    done =
        done && sql_script(store, version) && sql_script(store, "PRAGMA writable_schema = RESET");
    sqlite3_db_config(sql_handle(store), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
    sqlite3_db_config(sql_handle(store), SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return done;
}

static void run_steps(struct store *store, const struct schema_step *step, int version) {
    for (; step->to; step++)
        if (step->to > version &&
            (!run_step(store, step->sql) || (step->fill && !step->fill(store)) ||
             !run_on_schema(store, step->sqlite) || !set_version(store, step->to)))
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
    if (found < 0)
        return sql_refuse(store, STORE_UNAVAILABLE, SCHEMA_CLOSED);
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
        else if (*from < SCHEMA_VERSION) {
            run_steps(store, first_steps, *from);
            run_steps(store, schema_steps, *from);
        }
    }
    return sql_commit(store);
}

enum store_result sqlite_migrate(const char *path, int *from, int *to, struct store **out) {
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
