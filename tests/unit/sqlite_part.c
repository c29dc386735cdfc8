/* lib/engine/sqlite_part.c, by connections for reading. */
#include "store/store.h"

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"
#include "store/heartbeat.h"
#include "store/scoped_token.h"
#include "store/upkeep.h"

static char database[256];

/* Runs SQL in another process: SQLite shares the wal-index of a reader within a process. */
static void run(const char *sql) {
    extern char **environ;
    char name[] = "sqlite3", option[] = "-bail", *text = strdup(sql);
    char command[] = "-cmd",
         writable[] = ".dbconfig defensive off"; /* later shells begin with on */
    char *arguments[] = {name, option, command, writable, database, text, NULL};
    pid_t pid;
    int status = -1;
    CHECK_INTEGER(posix_spawnp(&pid, name, NULL, NULL, arguments, environ), 0);
    waitpid(pid, &status, 0);
    CHECK_INTEGER_AS(sql, status, 0);
    free(text);
}

static struct store *open_reader(void) {
    struct store *store;
    CHECK_INTEGER(store_open_for_reading(database, &store), STORE_OK);
    return store;
}

static void check_accounts(struct store *store, size_t expected) {
    struct arena arena;
    struct store_account *accounts;
    size_t count = 0;
    arena_init(&arena, 1024 * 1024, NULL);
    CHECK_INTEGER(store_list_accounts(store, &arena, "usr_1", &accounts, &count), STORE_OK);
    CHECK_INTEGER(count, (int64_t)expected);
    arena_free(&arena);
}

/* A main token, a scoped token and a session are looked up in the part. */
static void check_callers(struct store *store) {
    static const unsigned char hash[CRYPTO_HASH_SIZE];
    struct store_user user;
    struct store_scoped_token token;
    struct store_session session;
    struct arena arena;
    arena_init(&arena, 1024 * 1024, NULL);
    CHECK_INTEGER(store_authenticate(store, &arena, hash, &user), STORE_NOT_FOUND);
    CHECK_INTEGER(store_authenticate_scoped(store, &arena, hash, &user, &token), STORE_NOT_FOUND);
    CHECK_INTEGER(store_authenticate_session(store, &arena, hash, NULL, 1, &user, &session),
                  STORE_NOT_FOUND);
    arena_free(&arena);
}

static void check_heartbeat(struct store *store, enum store_result expected) {
    struct store_pulse pulse;
    CHECK_INTEGER(store_find_pulse(store, "courier", &pulse), expected);
}

static void create(void) {
    struct store *store;
    int from, to;
    CHECK_INTEGER(store_migrate(database, &from, &to, &store), STORE_OK);
    store_close(store);
    run("INSERT INTO user (id, email, created_at) VALUES ('usr_1', 'a@example.org', 1);"
        "INSERT INTO account (id, user_id, waba_id, name, created_at)"
        " VALUES ('acc_1', 'usr_1', '1', 'A', 1)");
}

/* A table with a definition that cannot be parsed is not noticed before it is needed. */
static void check_part(void) {
    run("PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = sql || ' (' WHERE name = 'flow'");
    struct store *store = open_reader();
    check_accounts(store, 1);
    check_callers(store);
    check_heartbeat(store, STORE_CORRUPT);
    CHECK_HOLDS(store_reason(store), "malformed database schema (flow)");
    store_close(store);
    run("PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = substr(sql, 1, length(sql) - 2) WHERE name = 'flow'");
}

static void check_whole(void) {
    struct store *store = open_reader();
    check_heartbeat(store, STORE_OK);
    check_accounts(store, 1);
    run("CREATE TABLE another (x); INSERT INTO account (id, user_id, waba_id, name, created_at)"
        " VALUES ('acc_2', 'usr_1', '2', 'B', 1)");
    check_accounts(store, 2);
    check_heartbeat(store, STORE_OK);
    store_close(store);
}

/* Another process changes the schema after a part of it was read. */
static void check_change(void) {
    struct store *store = open_reader();
    run("DROP TABLE another; DELETE FROM account WHERE id = 'acc_2'");
    check_accounts(store, 1);
    check_heartbeat(store, STORE_OK);
    store_close(store);
}

/* The tables are read in any order of creation. */
static void check_order(void) {
    run("CREATE TABLE other (id TEXT PRIMARY KEY, user_id TEXT NOT NULL,"
        " waba_id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, access_token BLOB, subscribed_fields "
        "TEXT,"
        " created_at INTEGER NOT NULL, UNIQUE (user_id, id)) STRICT;"
        "INSERT INTO other SELECT * FROM account; DROP TABLE account;"
        "ALTER TABLE other RENAME TO account");
    struct store *store = open_reader();
    check_accounts(store, 1);
    check_heartbeat(store, STORE_OK);
    store_close(store);
}

int main(void) {
    char directory[] = "/tmp/sqlite-part-XXXXXX";
    CHECK(mkdtemp(directory) != NULL);
    snprintf(database, sizeof database, "%s/db", directory);
    create();
    check_part();
    check_whole();
    check_change();
    check_order();
    static const char *const ends[] = {"", "-wal", "-shm", ".queue"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(database, sizeof database, "%s/db%s", directory, ends[i]);
        unlink(database);
    }
    CHECK_INTEGER(rmdir(directory), 0);
    return check_failures();
}
