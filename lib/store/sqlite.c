#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/queue.h"

enum {
    BUSY_TIMEOUT_MS = 5000,
    LONGEST_VALUE = 8 * 1024 * 1024,
    WAL_TOO_LONG = 64 * 1024 * 1024,
    DESCRIPTORS_MAX = 1024,
    STEPS_PER_CHECK = 1000, /* of SQLite's virtual machine, between two checks of the limit */
    WORK_OF_PAGE = 10,      /* cost of a page in the cache, in steps */
    WORK_OF_TRANSFER = 200, /* cost of reading or writing a page */
    OPEN_TRIES = 20,        /* for reading; the wal-index is created again between two tries */
    INDEX_WAIT_MS = 1000,   /* how long a reader waits for a writer to create the index */
};

struct store {
    sqlite3 *db;
    int code; /* the first SQLite error since the last sql_result; 0: none */
    char reason[1024];
    struct statement *prepared;
    struct stat file; /* the database's file when it was opened */
    bool has_queue;   /* the queue is opened by the first transaction */
    struct queue queue;
    bool holds_view;         /* a read transaction is open */
    bool is_reader;          /* opened for reading: it cannot create the wal-index */
    int64_t work, most_work; /* of the transaction, in steps; most_work 0: no limit */
    char path[4096];
};

static void latch(struct store *store, int code) {
    if (store->code || code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
        return;
    store->code = code;
    bool is_file = (code & 0xff) == SQLITE_CANTOPEN && store->db;
    int system = is_file ? sqlite3_system_errno(store->db) : 0;
    snprintf(store->reason, sizeof store->reason, "%s%s%s (SQLite %d)",
             store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(code), system ? ": " : "",
             system ? strerror(system) : "", code);
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

const char *store_reason(const struct store *store) {
    return store ? store->reason : "out of memory";
}

enum store_result sql_result(struct store *store) {
    int code = store->code;
    store->code = SQLITE_OK;
    return result_of(code);
}

bool sql_failed(const struct store *store) {
    return store->code != SQLITE_OK;
}

bool sql_conflicted(const struct store *store) {
    return result_of(store->code) == STORE_CONFLICT;
}

void sql_abandon(struct store *store) {
    latch(store, SQLITE_INTERNAL);
}

/* SQLite's progress handler: true ends the running statement. It never ends the ROLLBACK of a
 * transaction that has failed already. */
static int count_steps(void *argument) {
    struct store *store = argument;
    store->work += STEPS_PER_CHECK;
    return !store->code && store->work > store->most_work;
}

void store_limit_work(struct store *store, int64_t most) {
    store->most_work = most;
    sqlite3_progress_handler(store->db, STEPS_PER_CHECK, most ? count_steps : NULL, store);
}

/* The connection's work on pages since the last call, in steps. */
static int64_t work_of_pages(struct store *store) {
    static const struct {
        int counter, steps;
    } kinds[] = {{SQLITE_DBSTATUS_CACHE_HIT, WORK_OF_PAGE},
                 {SQLITE_DBSTATUS_CACHE_MISS, WORK_OF_TRANSFER},
                 {SQLITE_DBSTATUS_CACHE_WRITE, WORK_OF_TRANSFER}};
    int64_t work = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int count = 0, highest;
        sqlite3_db_status(store->db, kinds[i].counter, &count, &highest, 1);
        work += (int64_t)count * kinds[i].steps;
    }
    return work;
}

bool sql_is_within_limit(struct store *store) {
    if (!store->most_work)
        return true;
    store->work += work_of_pages(store);
    if (store->work > store->most_work)
        latch(store, SQLITE_INTERRUPT);
    return store->work <= store->most_work;
}

sqlite3 *sql_handle(struct store *store) {
    return store->db;
}

int sql_changes(const struct store *store) {
    return sqlite3_changes(store->db);
}

/* Empties a very long write-ahead log, for installations where no courier makes checkpoints. Uses
 * only TRUNCATE, which takes the writer's lock, so that no commit can overlap it (SQLite before
 * 3.51.3 may lose frames otherwise). */
static void truncate_long_wal(struct store *store) {
    char path[sizeof store->path + 8];
    struct stat wal;
    snprintf(path, sizeof path, "%s-wal", store->path);
    if (stat(path, &wal) == 0 && wal.st_size > WAL_TOO_LONG)
        sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

/* Switches off what this program does not need: locks between threads (it has one), memory
 * statistics, and a preallocated page cache, which a short process never fills. */
static void configure_library(void) {
    static bool done;
    if (!done) {
        sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    }
    done = true;
}

static void configure(struct store *store) {
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_wal_autocheckpoint(store->db, 0);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    /* sql_commit syncs the write-ahead log, so that one sync can serve many commits; temporary
     * tables are in memory: a confined process may not create files */
    sql_script(store, "PRAGMA synchronous = NORMAL; PRAGMA cell_size_check = ON; "
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
    configure_library();
    struct store *store = *out = calloc(1, sizeof *store);
    if (!store)
        return STORE_UNKNOWN;
    snprintf(store->path, sizeof store->path, "%s", path);
    store->queue = (struct queue){.file = -1};
    char uri[3 * sizeof store->path + 64];
    if (flags & SQLITE_OPEN_URI)
        write_uri(path, uri, sizeof uri);
    latch(store, sqlite3_open_v2(flags & SQLITE_OPEN_URI ? uri : path, &store->db,
                                 flags | SQLITE_OPEN_NOMUTEX, NULL));
    if (!store->code)
        configure(store);
    if (!store->code && stat(path, &store->file) != 0)
        latch(store, SQLITE_CANTOPEN);
    return sql_result(store);
}

static enum store_result open_current(const char *path, int flags, struct store **store) {
    enum store_result result = sql_open(path, flags, store);
    if (result != STORE_OK)
        return result;
    int64_t version = sql_integer(*store, "PRAGMA user_version");
    if ((result = sql_result(*store)) != STORE_OK)
        return result;
    if (version < SCHEMA_VERSION)
        return sql_refuse(*store, STORE_UNAVAILABLE,
                          "it has schema version %d, this program needs %d: run `switchboard init`",
                          (int)version, SCHEMA_VERSION);
    if (version > SCHEMA_VERSION)
        return sql_refuse(*store, STORE_UNAVAILABLE,
                          "it has schema version %d, made by a newer program; this one supports %d",
                          (int)version, SCHEMA_VERSION);
    return STORE_OK;
}

enum store_result store_open(const char *path, struct store **store) {
    enum store_result result = open_current(path, SQLITE_OPEN_READWRITE, store);
    if (result == STORE_OK)
        truncate_long_wal(*store);
    return result;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* SQLite opens the write-ahead log for writing even in a reader, which never writes to it: this
 * function replaces the descriptor with a read-only one. SQLite holds no locks on the log, so
 * closing its descriptor loses none; its lock on the database keeps other processes from removing
 * the log meanwhile. */
static bool make_wal_read_only(const struct store *store) {
    const char *log = sqlite3_filename_wal(sqlite3_db_filename(store->db, "main"));
    struct stat wanted, found;
    int harmless = open(log, O_RDONLY | O_CLOEXEC), used = -1;
    if (harmless < 0 || fstat(harmless, &wanted) != 0)
        return false;
    for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS_MAX && used < 0; fd++)
        if (fd != harmless && fstat(fd, &found) == 0 && is_same_file(&found, &wanted))
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
    int code = sqlite3_extended_errcode(store->db);
    return needs_new_index(code) || (code & 0xff) == SQLITE_CANTOPEN;
}

/* Creates the wal-index by opening a connection for writing. Leaves the write-ahead log unchanged.
 */
static enum store_result renew_index(const char *path, struct store **store) {
    enum store_result result = open_current(path, SQLITE_OPEN_READWRITE, store);
    if (result == STORE_OK)
        sqlite3_db_config((*store)->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return result;
}

static enum store_result open_reader(const char *path, struct store **store) {
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

enum store_result store_open_for_reading(const char *path, struct store **store) {
    enum store_result result = open_reader(path, store);
    if (result != STORE_OK)
        return result;
    (*store)->is_reader = true;
    sqlite3_db_config((*store)->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (!make_wal_read_only(*store))
        return sql_refuse(*store, STORE_UNAVAILABLE,
                          "its write-ahead log cannot be opened for reading: %s", strerror(errno));
    return STORE_OK;
}

void store_close(struct store *store) {
    if (!store)
        return;
    for (struct statement *s = store->prepared; s; s = s->next) {
        sqlite3_finalize(s->prepared);
        s->prepared = NULL;
    }
    sqlite3_close(store->db);
    queue_close(&store->queue);
    free(store);
}

bool store_is_current(const struct store *store, const char *path) {
    struct stat now;
    return strcmp(store->path, path) == 0 && stat(path, &now) == 0 &&
           is_same_file(&now, &store->file);
}

static bool prepare(struct store *store, struct statement *statement) {
    if (statement->prepared)
        return true;
    latch(store, sqlite3_prepare_v3(store->db, statement->sql, -1, SQLITE_PREPARE_PERSISTENT,
                                    &statement->prepared, NULL));
    if (!statement->prepared)
        return false;
    statement->next = store->prepared;
    store->prepared = statement;
    return true;
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

void sql_start_with(struct store *store, struct statement *statement,
                    const struct parameter *parameters, size_t count) {
    if (store->code || !prepare(store, statement))
        return;
    for (size_t i = 0; i < count; i++)
        latch(store, bind(statement->prepared, (int)i + 1, &parameters[i]));
}

void sql_stop(struct statement *statement) {
    if (statement->prepared) {
        sqlite3_reset(statement->prepared);
        sqlite3_clear_bindings(statement->prepared);
    }
}

bool sql_row(struct store *store, struct statement *statement) {
    int code = store->code ? store->code : sqlite3_step(statement->prepared);
    if (code == SQLITE_ROW)
        return true;
    latch(store, code);
    sql_stop(statement);
    return false;
}

const char *column_text(struct statement *statement, int column, struct arena *arena) {
    struct slice text = column_blob(statement, column, arena);
    return text.p;
}

struct slice column_blob(struct statement *statement, int column, struct arena *arena) {
    if (column_is_null(statement, column))
        return (struct slice){NULL, 0};
    const char *p = sqlite3_column_blob(statement->prepared, column);
    size_t n = (size_t)sqlite3_column_bytes(statement->prepared, column);
    return (struct slice){arena_copy(arena, (struct slice){p, p ? n : 0}), p ? n : 0};
}

bool column_id(struct statement *statement, int column, char id[ID_SIZE]) {
    const unsigned char *text = sqlite3_column_text(statement->prepared, column);
    snprintf(id, ID_SIZE, "%s", text ? (const char *)text : "");
    return text != NULL;
}

int64_t column_integer(struct statement *statement, int column) {
    return sqlite3_column_int64(statement->prepared, column);
}

bool column_is_null(struct statement *statement, int column) {
    return sqlite3_column_type(statement->prepared, column) == SQLITE_NULL;
}

/* Prepared before the first transaction begins: a rollback must not fail for lack of memory, or the
 * transaction would stay open and keep the write lock. */
static struct statement rollback = {.sql = "ROLLBACK"};

static bool begin(struct store *store, struct statement *statement) {
    if (!store->code)
        prepare(store, &rollback);
    sql_start_with(store, statement, NULL, 0);
    return !sql_row(store, statement) && !store->code;
}

/* Rolls back the open transaction; some errors, such as lack of memory, have rolled it back
 * already. */
static void roll_back(struct store *store) {
    if (sqlite3_get_autocommit(store->db))
        return;
    if (rollback.prepared && sqlite3_step(rollback.prepared) != SQLITE_DONE)
        latch(store, SQLITE_INTERNAL);
    sql_stop(&rollback);
}

/* Starts a reader's view with a first statement; false when the wal-index must be created again.
 * This way later statements of the view do not fail for that reason. */
static bool start_view(struct store *store) {
    static struct statement look = {.sql = "SELECT 1 FROM sqlite_schema LIMIT 1"};
    sql_start_with(store, &look, NULL, 0);
    if (sql_row(store, &look))
        sql_stop(&look);
    return !needs_new_index(store->code);
}

void store_hold_view(struct store *store) {
    static struct statement deferred = {.sql = "BEGIN"};
    static const struct timespec pause = {.tv_nsec = 1000 * 1000};
    if (store->holds_view || !sqlite3_get_autocommit(store->db))
        return;
    for (int waited = 0;; waited++) {
        store->holds_view = begin(store, &deferred);
        if (!store->holds_view || !store->is_reader || start_view(store) || waited == INDEX_WAIT_MS)
            return;
        roll_back(store);
        store->code = SQLITE_OK;
        nanosleep(&pause, NULL);
    }
}

void store_release_view(struct store *store) {
    if (!store || !store->holds_view)
        return;
    store->holds_view = false;
    roll_back(store);
}

bool sql_begin(struct store *store) {
    static struct statement immediate = {.sql = "BEGIN IMMEDIATE"};
    store_release_view(store);
    if (!store->has_queue)
        queue_open(&store->queue, store->path, &store->file);
    store->has_queue = true;
    queue_lock(&store->queue);
    work_of_pages(store); /* discards the work before the transaction */
    store->work = 0;
    return begin(store, &immediate);
}

/* Syncs the write-ahead log. In rollback-journal mode, which a new database starts in, there is no
 * log: SQLite has synced the commit itself. */
static int sync_wal(void *argument) {
    struct store *store = argument;
    sqlite3_file *log = NULL;
    int code = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (code || !log->pMethods)
        return code;
    return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
}

enum store_result sql_commit(struct store *store) {
    static struct statement commit = {.sql = "COMMIT"};
    if (!store->code) {
        sql_start_with(store, &commit, NULL, 0);
        sql_row(store, &commit);
    }
    if (store->code)
        roll_back(store);
    queue_unlock(&store->queue);
    if (!store->code)
        latch(store, queue_sync(&store->queue, sync_wal, store));
    return sql_result(store);
}

void sql_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
              const char *const *names, size_t count) {
    (void)store, (void)kind, (void)owner, (void)names, (void)count;
}

struct slice sql_seal(struct store *store, const struct store_secret *secret) {
    struct slice sealed = secret ? secret->seal(secret->context) : (struct slice){NULL, 0};
    if (secret && !sealed.p)
        sql_abandon(store);
    return sealed;
}

bool sql_script(struct store *store, const char *sql) {
    latch(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL));
    return !store->code;
}

int64_t sql_integer(struct store *store, const char *sql) {
    sqlite3_stmt *prepared = NULL;
    int64_t value = -1;
    latch(store, sqlite3_prepare_v2(store->db, sql, -1, &prepared, NULL));
    int code = prepared ? sqlite3_step(prepared) : SQLITE_OK;
    if (code == SQLITE_ROW)
        value = sqlite3_column_int64(prepared, 0);
    latch(store, code);
    sqlite3_finalize(prepared);
    return value;
}

const char *sql_text(struct store *store, struct arena *arena, const char *sql) {
    sqlite3_stmt *prepared = NULL;
    const char *value = NULL;
    latch(store, sqlite3_prepare_v2(store->db, sql, -1, &prepared, NULL));
    int code = prepared ? sqlite3_step(prepared) : SQLITE_OK;
    if (code == SQLITE_ROW && sqlite3_column_type(prepared, 0) != SQLITE_NULL)
        value = arena_copy(arena, slice_of((const char *)sqlite3_column_text(prepared, 0)));
    latch(store, code);
    sqlite3_finalize(prepared);
    return value;
}

enum store_result sql_refuse(struct store *store, enum store_result result, const char *format,
                             ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(store->reason, sizeof store->reason, format, args);
    va_end(args);
    return result;
}
