#include "engine/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file_identity.h"
#include "engine/driver.h"
#include "engine/queue.h"

enum {
    BUSY_TIMEOUT_MS = 5000,
    LONGEST_VALUE = 8 * 1024 * 1024,
    DESCRIPTORS_MAX = 1024,
    STEPS_PER_CHECK = 1000, /* of SQLite's virtual machine, between two checks of the limit */
    WORK_OF_PAGE = 10,      /* cost of a page in the cache, in steps */
    WORK_OF_TRANSFER = 200, /* cost of reading or writing a page */
    OPEN_TRIES = 20,        /* for reading; the wal-index is created again between two tries */
    CHECKPOINT_BUSY_MS = 10 * 1000, /* the wait after another connection blocked a checkpoint */
    WRITER_PAUSE_MS = 5,            /* of a checkpoint, before it tries the lock again */
    INDEX_WAIT_MS = 1000,           /* how long a reader waits for a writer to create the index */
};

/* An open SQLite database. */
struct connection {
    struct store store;
    sqlite3 *db;
    int lock_timeout; /* ms */
    int code;         /* SQLite's error, if store.failure is set */
    struct stat file; /* the database's file when it was opened */
    bool has_queue;   /* the queue is opened by the first transaction */
    struct queue queue;
    bool holds_view;         /* a read transaction is open */
    bool is_reader;          /* opened for reading: it cannot create the wal-index */
    bool has_part;           /* a reader that has parsed a part of the schema only */
    int64_t work, most_work; /* of the transaction, in steps; most_work 0: no limit */
    struct tending {
        int64_t next;          /* monotonic time of the next checkpoint */
        int64_t version;       /* SQLite's data version at the last one */
        sqlite3_int64 changes; /* of this connection, until the last one */
        bool has_log;          /* the last one did not truncate the write-ahead log */
    } tending;
    char path[4096];
};

static struct connection *connection_of(const struct store *store) {
    return (struct connection *)(size_t)store;
}

static enum store_result result_of(int code) {
    switch (code & 0xff) {
    case SQLITE_OK: return STORE_OK;
    case SQLITE_CONSTRAINT: return STORE_CONFLICT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return STORE_BUSY;
    case SQLITE_FULL: return STORE_FULL;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_SCHEMA: return STORE_UNAVAILABLE;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return STORE_CORRUPT;
    case SQLITE_INTERRUPT: return STORE_EXCESSIVE;
    default: return STORE_UNKNOWN;
    }
}

/* The system's error behind SQLite's; 0: none is known. */
static int system_error(const struct connection *c, int code) {
    const int kind = code & 0xff;
    return c->db && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR) ? sqlite3_system_errno(c->db)
                                                                      : 0;
}

static void latch(struct store *store, int code) {
    struct connection *c = connection_of(store);
    if (store->failure || code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
        return;
    const int system = system_error(c, code);
    const bool is_full = system == ENOSPC; /* SQLITE_FULL is of the database and its log alone */
    c->code = code;
    store->failure = sql_refuse(store, is_full ? STORE_FULL : result_of(code), "%s%s%s (SQLite %d)",
                                c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(code),
                                system ? ": " : "", system ? strerror(system) : "", code);
}

/* SQLite's progress handler: true ends the running statement. It never ends the ROLLBACK of a
 * transaction that has failed already. */
static int count_steps(void *argument) {
    struct connection *c = argument;
    c->work += STEPS_PER_CHECK;
    return !c->store.failure && c->work > c->most_work;
}

static void limit_work(struct store *store, int64_t most) {
    struct connection *c = connection_of(store);
    c->most_work = most;
    sqlite3_progress_handler(c->db, STEPS_PER_CHECK, most ? count_steps : NULL, c);
}

/* The connection's work on pages since the last call, in steps. */
static int64_t work_of_pages(struct connection *c) {
    static const struct {
        int counter, steps;
    } kinds[] = {{SQLITE_DBSTATUS_CACHE_HIT, WORK_OF_PAGE},
                 {SQLITE_DBSTATUS_CACHE_MISS, WORK_OF_TRANSFER},
                 {SQLITE_DBSTATUS_CACHE_WRITE, WORK_OF_TRANSFER}};
    int64_t work = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int count = 0, highest;
        sqlite3_db_status(c->db, kinds[i].counter, &count, &highest, 1);
        work += (int64_t)count * kinds[i].steps;
    }
    return work;
}

static bool is_within_limit(struct store *store, int64_t own) {
    struct connection *c = connection_of(store);
    if (!c->most_work)
        return true;
    c->work += work_of_pages(c) + own;
    if (c->work > c->most_work)
        latch(store, SQLITE_INTERRUPT);
    return c->work <= c->most_work;
}

sqlite3 *sql_handle(struct store *store) {
    return connection_of(store)->db;
}

static int changes(const struct store *store) {
    return sqlite3_changes(connection_of(store)->db);
}

static int64_t total_changes(const struct store *store) {
    return sqlite3_total_changes64(connection_of(store)->db);
}

static enum store_result set_lock_timeout(struct store *store, int ms) {
    struct connection *c = connection_of(store);
    c->lock_timeout = ms;
    latch(store, sqlite3_busy_timeout(c->db, ms));
    return sql_result(store);
}

/* A busy handler of SQLite. */
static int wait_for_writer(void *connection, int tries) {
    const struct connection *c = connection;
    if (sqlite_wal_is_writer(c->db) || tries * WRITER_PAUSE_MS >= c->lock_timeout)
        return 0;
    sqlite3_sleep(WRITER_PAUSE_MS);
    return 1;
}

int sqlite_checkpoint(struct store *store, int mode) {
    struct connection *c = connection_of(store);
    sqlite3_busy_handler(c->db, wait_for_writer, c);
    const int code = sqlite3_wal_checkpoint_v2(c->db, NULL, mode, NULL, NULL);
    sqlite3_busy_timeout(c->db, c->lock_timeout);
    return code;
}

/* Empties a very long write-ahead log, for installations where no courier makes checkpoints. */
static void truncate_long_wal(struct connection *c) {
    char path[sizeof c->path + 8];
    struct stat wal;
    snprintf(path, sizeof path, "%s-wal", c->path);
    if (stat(path, &wal) == 0 && wal.st_size > WAL_TOO_LONG)
        sqlite_checkpoint(&c->store, SQLITE_CHECKPOINT_TRUNCATE);
}

/* Switches off what this program does not need: locks between threads (it has one), memory
 * statistics, and a preallocated page cache, which a short process never fills. */
static int configure_library(void) {
    static bool done;
    int code = SQLITE_OK;
    if (!done) {
        sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
        code = sqlite_wal_join_writes();
    }
    done = code == SQLITE_OK;
    return code;
}

static void configure(struct connection *c, int flags) {
    c->lock_timeout = BUSY_TIMEOUT_MS;
    sqlite3_busy_timeout(c->db, c->lock_timeout);
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_wal_autocheckpoint(c->db, 0);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    c->has_part = flags & SQLITE_OPEN_URI; /* a reader of requests; a check needs the whole */
    if (c->has_part)
        sqlite_part_read(c->db);
    /* commit syncs the write-ahead log, so that one sync can serve many commits; temporary
     * tables are in memory: a confined process may not create files */
    sql_script(&c->store, "PRAGMA synchronous = NORMAL; PRAGMA cell_size_check = ON; "
                          "PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;");
}

/* Writes the path as a URI that makes SQLite open the wal-index read-only. */
static void write_uri(const char *path, char *uri, size_t size) {
    size_t n = (size_t)snprintf(uri, size, "%s", *path == '/' ? "file://" : "file:");
    for (; *path && n + 32 < size; path++)
        n += (size_t)snprintf(uri + n, size - n, strchr("%?#", *path) ? "%%%02X" : "%c", *path);
    snprintf(uri + n, size - n, "?mode=ro&readonly_shm=1");
}

enum store_result sql_open(const char *path, int flags, struct store **out) {
    struct connection *c = calloc(1, sizeof *c);
    *out = c ? &c->store : NULL;
    if (!c)
        return STORE_UNKNOWN;
    c->store.driver = &sqlite_driver;
    snprintf(c->path, sizeof c->path, "%s", path);
    c->queue = (struct queue){.file = -1};
    char uri[3 * sizeof c->path + 64];
    if (flags & SQLITE_OPEN_URI)
        write_uri(path, uri, sizeof uri);
    latch(&c->store, configure_library());
    if (!c->store.failure)
        latch(&c->store, sqlite3_open_v2(flags & SQLITE_OPEN_URI ? uri : path, &c->db,
                                         flags | SQLITE_OPEN_NOMUTEX, NULL));
    if (!c->store.failure)
        configure(c, flags);
    if (!c->store.failure && strcmp(path, SQL_IN_MEMORY) != 0 && stat(path, &c->file) != 0)
        latch(&c->store, SQLITE_CANTOPEN);
    return sql_result(&c->store);
}

/* The halves of the application id: "SW" and the edition, which was "BD" before there were
 * editions. */
enum { SCHEMA_APPLICATION = 0x5357, EDITION_BEFORE = 0x4244 };

bool sql_read_schema_id(struct store *store, struct schema_id *id) {
    const int64_t application = sql_integer(store, "PRAGMA application_id");
    id->version = sql_integer(store, "PRAGMA user_version");
    id->edition = (int)(application & 0xffff);
    if (id->edition == EDITION_BEFORE)
        id->edition = SCHEMA_EDITION_NONE;
    return !store->failure && application >> 16 == SCHEMA_APPLICATION;
}

bool sql_write_schema_id(struct store *store) {
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             SCHEMA_APPLICATION << 16 | schema_edition, schema_version);
    return sql_script(store, sql);
}

static enum store_result open_current(const char *path, int flags, struct store **store) {
    struct schema_id found;
    enum store_result result = sql_open(path, flags, store);
    if (result != STORE_OK)
        return result;
    const bool is_ours = sql_read_schema_id(*store, &found);
    if ((result = sql_result(*store)) != STORE_OK)
        return result;
    if (found.version && !is_ours)
        return sql_refuse(*store, STORE_UNAVAILABLE, "it belongs to another program");
    return schema_check(*store, &found, false);
}

/* A request that has begun goes on, so that the record of a message that was sent is moved too. */
static enum store_result refuse_drained(struct store *store) {
    return sql_refuse_moved(store, STORE_BUSY,
                            "its content is about to be moved to another database");
}

static enum store_result open_writer(const char *path, struct store **store) {
    enum store_result result = open_current(path, SQLITE_OPEN_READWRITE, store);
    if (result == STORE_OK && queue_is_drained(path))
        return refuse_drained(*store);
    if (result == STORE_OK)
        truncate_long_wal(connection_of(*store));
    return result;
}

/* SQLite opens the write-ahead log for writing even in a reader, which never writes to it: this
 * function replaces the descriptor with a read-only one. SQLite holds no locks on the log, so
 * closing its descriptor loses none; its lock on the database keeps other processes from removing
 * the log meanwhile. */
static bool make_wal_read_only(const struct connection *c) {
    const char *log = sqlite3_filename_wal(sqlite3_db_filename(c->db, "main"));
    struct stat wanted, found;
    int harmless = open(log, O_RDONLY | O_CLOEXEC), used = -1;
    if (harmless < 0 || fstat(harmless, &wanted) != 0)
        return false;
    for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS_MAX && used < 0; fd++)
        if (fd != harmless && fstat(fd, &found) == 0 && file_is_same(&found, &wanted))
            used = fd;
    bool done = used >= 0 && dup3(harmless, used, O_CLOEXEC) == used;
    close(harmless);
    return done;
}

/* A reader's SQLite does not create the file of the wal-index, but needs it: creates it with the
 * owner and mode that a writer's SQLite would use. */
static void ensure_index(const char *path) {
    char name[4096 + 8];
    struct stat database;
    snprintf(name, sizeof name, "%s-shm", path);
    if (access(name, F_OK) == 0 || stat(path, &database) != 0)
        return;
    int fd =
        open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, database.st_mode & 0777);
    if (fd < 0)
        return;
    if (geteuid() == 0 && fchown(fd, database.st_uid, database.st_gid) != 0)
        unlink(name);
    fchmod(fd, database.st_mode & 0777);
    close(fd);
}

/* Whether a reader found a wal-index that a writer must create again; a reader cannot. */
static bool needs_new_index(int code) {
    return code == SQLITE_READONLY_RECOVERY || code == SQLITE_READONLY_CANTINIT;
}

/* Whether opening for reading may succeed after a connection for writing was opened. */
static bool may_get_new_index(const struct store *store) {
    int code = sqlite3_extended_errcode(connection_of(store)->db);
    return needs_new_index(code) || (code & 0xff) == SQLITE_CANTOPEN;
}

/* Creates the wal-index by opening a connection for writing. Leaves the write-ahead log unchanged.
 */
static enum store_result renew_index(const char *path, struct store **store) {
    enum store_result result = open_current(path, SQLITE_OPEN_READWRITE, store);
    if (result == STORE_OK)
        sqlite3_db_config(connection_of(*store)->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return result;
}

static enum store_result open_with_index(const char *path, struct store **store) {
    ensure_index(path);
    enum store_result result = open_current(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, store);
    for (int tries = 1; result != STORE_OK && *store && may_get_new_index(*store); tries++) {
        if (tries == OPEN_TRIES)
            return result;
        store_close(*store);
        if ((result = renew_index(path, store)) != STORE_OK)
            return result;
        store_close(*store);
        ensure_index(path);
        result = open_current(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, store);
    }
    return result;
}

static enum store_result open_reader(const char *path, struct store **store) {
    enum store_result result = open_with_index(path, store);
    if (result != STORE_OK)
        return result;
    struct connection *c = connection_of(*store);
    c->is_reader = true;
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (!make_wal_read_only(c))
        return sql_refuse(*store, STORE_UNAVAILABLE,
                          "its write-ahead log cannot be opened for reading: %s", strerror(errno));
    return STORE_OK;
}

static enum store_result open_database(const char *target, bool for_reading, struct store **store) {
    return for_reading ? open_reader(target, store) : open_writer(target, store);
}

static void close_database(struct store *store) {
    struct connection *c = connection_of(store);
    sqlite3_close(c->db);
    queue_close(&c->queue);
    free(c);
}

static bool is_drained(const struct connection *c) {
    return c->queue.file >= 0 ? queue_has_drain(&c->queue) : queue_is_drained(c->path);
}

static bool is_alive(struct store *store, const char *target) {
    const struct connection *c = connection_of(store);
    struct stat now;
    bool is_there = stat(target, &now) == 0;
    if (is_there && strcmp(c->path, target) == 0 && file_is_same(&now, &c->file)) {
        if (c->is_reader || !is_drained(c))
            return true;
        refuse_drained(store);
        return false;
    }
    sql_refuse(store, STORE_UNAVAILABLE, "%s",
               is_there ? "it is another file now" : "unable to open it: it is gone");
    return false;
}

/* Copies the write-ahead log into the database, so that the next writer starts the log again at its
 * beginning; with `cuts_log` the file is truncated too. STORE_BUSY: another connection reads or
 * writes. */
static enum store_result checkpoint(struct store *store, bool cuts_log) {
    const int code =
        sqlite_checkpoint(store, cuts_log ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART);
    if (code == SQLITE_BUSY)
        return STORE_BUSY;
    latch(store, code);
    return sql_result(store);
}

/* While there are writes, the file of the write-ahead log keeps its size: overwriting a file costs
 * less than extending it at every commit. When there were no writes since the last checkpoint, it
 * is truncated. */
static enum store_result tend(struct store *store, int64_t now) {
    struct connection *c = connection_of(store);
    int64_t version = sql_integer(store, "PRAGMA data_version"); /* of others' commits */
    sqlite3_int64 own = sqlite3_total_changes64(c->db);
    bool is_calm = version == c->tending.version && own == c->tending.changes;
    enum store_result result = sql_result(store);
    if (result != STORE_OK || now < c->tending.next || (is_calm && !c->tending.has_log))
        return result;
    result = checkpoint(store, is_calm);
    if (result == STORE_BUSY)
        c->tending.next = now + CHECKPOINT_BUSY_MS;
    if (result == STORE_OK)
        c->tending = (struct tending){.version = version, .changes = own, .has_log = !is_calm};
    return result;
}

/* Prepares a statement. One on a table that a reader does not know is prepared again when the
 * reader has parsed the whole schema. */
static sqlite3_stmt *prepare_text(struct store *store, const char *sql, unsigned flags) {
    struct connection *c = connection_of(store);
    sqlite3_stmt *prepared = NULL;
    int code = sqlite3_prepare_v3(c->db, sql, -1, flags, &prepared, NULL);
    if (code == SQLITE_ERROR && c->has_part) {
        c->has_part = false;
        sqlite_part_forget(c->db);
        code = sqlite3_prepare_v3(c->db, sql, -1, flags, &prepared, NULL);
    }
    latch(store, code);
    return prepared;
}

static bool prepare(struct store *store, struct statement *statement) {
    statement->prepared = prepare_text(store, statement->sql, SQLITE_PREPARE_PERSISTENT);
    return statement->prepared;
}

static void drop(struct statement *statement) {
    sqlite3_finalize(statement->prepared);
}

static int bind(sqlite3_stmt *prepared, int index, const struct parameter *parameter) {
    struct slice bytes = parameter->bytes;
    if (parameter->kind == PARAMETER_INTEGER)
        return sqlite3_bind_int64(prepared, index, parameter->integer);
    if (!bytes.p)
        return sqlite3_bind_null(prepared, index);
    if (parameter->kind == PARAMETER_BLOB)
        return sqlite3_bind_blob64(prepared, index, bytes.p, bytes.n, SQLITE_STATIC);
    return sqlite3_bind_text64(prepared, index, bytes.p, bytes.n, SQLITE_STATIC, SQLITE_UTF8);
}

static void start(struct store *store, struct statement *statement,
                  const struct parameter *parameters, size_t count) {
    for (size_t i = 0; i < count; i++)
        latch(store, bind(statement->prepared, (int)i + 1, &parameters[i]));
}

static void stop(struct statement *statement) {
    sqlite3_reset(statement->prepared);
    sqlite3_clear_bindings(statement->prepared);
}

static bool row(struct store *store, struct statement *statement) {
    int code = sqlite3_step(statement->prepared);
    latch(store, code);
    return code == SQLITE_ROW;
}

static bool is_null(const struct statement *statement, int column) {
    return sqlite3_column_type(statement->prepared, column) == SQLITE_NULL;
}

static struct slice column(const struct statement *statement, int column) {
    if (is_null(statement, column))
        return (struct slice){NULL, 0};
    const char *p = sqlite3_column_blob(statement->prepared, column);
    size_t n = (size_t)sqlite3_column_bytes(statement->prepared, column);
    return p ? (struct slice){p, n} : (struct slice){"", 0};
}

static int64_t integer(const struct statement *statement, int column) {
    return sqlite3_column_int64(statement->prepared, column);
}

/* Prepared before the first transaction begins: a rollback must not fail for lack of memory, or the
 * transaction would stay open and keep the write lock. */
static struct statement rollback = {.sql = "ROLLBACK"};

static bool start_transaction(struct store *store, struct statement *statement) {
    if (!store->failure)
        sql_prepare(store, &rollback);
    sql_start_with(store, statement, NULL, 0);
    return !sql_row(store, statement) && !store->failure;
}

/* Rolls back the open transaction; some errors, such as lack of memory, have rolled it back
 * already. */
static void roll_back(struct store *store) {
    if (sqlite3_get_autocommit(connection_of(store)->db))
        return;
    if (rollback.prepared && sqlite3_step(rollback.prepared) != SQLITE_DONE)
        latch(store, SQLITE_INTERNAL);
    sql_stop(&rollback);
}

/* Fails if the database was moved after this connection was opened. */
static void check_open(struct store *store) {
    static struct statement version = {.sql = "PRAGMA user_version"};
    sql_start_with(store, &version, NULL, 0);
    if (!sql_row(store, &version))
        return;
    const bool is_closed = column_integer(&version, 0) < 0;
    sql_stop(&version);
    if (is_closed) {
        store->failure = sql_refuse_moved(store, STORE_UNAVAILABLE, SCHEMA_CLOSED);
        connection_of(store)->code = SQLITE_OK;
    }
}

/* Starts a reader's view with a first statement; false when the wal-index must be created again.
 * This way later statements of the view do not fail for that reason. */
static bool start_view(struct store *store) {
    check_open(store);
    return !store->failure || !needs_new_index(connection_of(store)->code);
}

static void hold_view(struct store *store) {
    static struct statement deferred = {.sql = "BEGIN"};
    static const struct timespec pause = {.tv_nsec = 1000 * 1000};
    struct connection *c = connection_of(store);
    if (c->holds_view || !sqlite3_get_autocommit(c->db))
        return;
    for (int waited = 0;; waited++) {
        c->holds_view = start_transaction(store, &deferred);
        if (!c->holds_view || !c->is_reader || start_view(store) || waited == INDEX_WAIT_MS)
            return;
        roll_back(store);
        store->failure = STORE_OK;
        nanosleep(&pause, NULL);
    }
}

static void release_view(struct store *store) {
    struct connection *c = connection_of(store);
    if (!c->holds_view)
        return;
    c->holds_view = false;
    roll_back(store);
}

static bool begin(struct store *store) {
    static struct statement immediate = {.sql = "BEGIN IMMEDIATE"};
    struct connection *c = connection_of(store);
    release_view(store);
    if (!c->has_queue)
        queue_open(&c->queue, c->path, &c->file);
    c->has_queue = true;
    queue_lock(&c->queue);
    work_of_pages(c); /* discards the work before the transaction */
    c->work = 0;
    if (!start_transaction(store, &immediate))
        return false;
    check_open(store);
    if (store->failure)
        roll_back(store);
    return !store->failure;
}

/* Syncs the write-ahead log. In rollback-journal mode, which a new database starts in, there is no
 * log: SQLite has synced the commit itself. */
static int sync_wal(void *argument) {
    const struct connection *c = argument;
    sqlite3_file *log = NULL;
    int code = sqlite3_file_control(c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (code || !log->pMethods)
        return code;
    return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
}

static void commit(struct store *store) {
    static struct statement end = {.sql = "COMMIT"};
    struct connection *c = connection_of(store);
    if (!store->failure) {
        sql_start_with(store, &end, NULL, 0);
        sql_row(store, &end);
    }
    if (store->failure)
        roll_back(store);
    queue_unlock(&c->queue);
    if (!store->failure)
        latch(store, queue_sync(&c->queue, sync_wal, c));
}

bool sql_script(struct store *store, const char *sql) {
    latch(store, sqlite3_exec(connection_of(store)->db, sql, NULL, NULL, NULL));
    return !store->failure;
}

bool sqlite_open_schema(struct store **store) {
    return sql_open(SQL_IN_MEMORY, SQLITE_OPEN_READWRITE, store) == STORE_OK &&
           sql_script(*store, schema_sql);
}

/* Reads the first row of a statement; NULL: there is none. */
static sqlite3_stmt *first_row(struct store *store, const char *sql) {
    sqlite3_stmt *prepared = prepare_text(store, sql, 0);
    const int code = prepared ? sqlite3_step(prepared) : SQLITE_OK;
    latch(store, code);
    if (code == SQLITE_ROW)
        return prepared;
    sqlite3_finalize(prepared);
    return NULL;
}

int64_t sql_integer(struct store *store, const char *sql) {
    sqlite3_stmt *found = first_row(store, sql);
    const int64_t value = found ? sqlite3_column_int64(found, 0) : -1;
    sqlite3_finalize(found);
    return value;
}

const char *sql_text(struct store *store, struct arena *arena, const char *sql) {
    sqlite3_stmt *found = first_row(store, sql);
    const char *text = found ? (const char *)sqlite3_column_text(found, 0) : NULL;
    const char *value = text ? arena_copy(arena, slice_of(text)) : NULL;
    sqlite3_finalize(found);
    return value;
}

const struct driver sqlite_driver = {
    .open = open_database,
    .close = close_database,
    .is_alive = is_alive,
    .set_lock_timeout = set_lock_timeout,
    .tend = tend,
    .prepare = prepare,
    .drop = drop,
    .start = start,
    .row = row,
    .stop = stop,
    .changes = changes,
    .total_changes = total_changes,
    .column = column,
    .integer = integer,
    .is_null = is_null,
    .hold_view = hold_view,
    .release_view = release_view,
    .begin = begin,
    .commit = commit,
    .limit_work = limit_work,
    .is_within_limit = is_within_limit,
};
