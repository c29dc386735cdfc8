/* lib/engine/sqlite_wal.c */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "engine/driver.h"
#include "engine/sqlite.h"
#include "store/housekeeping.h"

enum { ROWS = 200, KILLS = 60 };

static char path[300];

static struct store *open_database(void) {
    struct store *store;
    check(sql_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &store) == STORE_OK, "open");
    return store;
}

/* A connection whose cache is too small for a transaction: it writes pages to the log before the
 * commit, reads them again and writes them a second time. */
static struct store *open_small(void) {
    struct store *store = open_database();
    check(sql_script(store, "PRAGMA cache_size = 4; PRAGMA cache_spill = 4"), "a small cache");
    return store;
}

static bool set_all(struct store *store, int64_t value, const char *end) {
    char sql[300];
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE; UPDATE t SET n = %lld; UPDATE t SET n = n + 1 WHERE id %% 7 = 0; "
             "UPDATE t SET n = n - 1 WHERE id %% 7 = 0; %s",
             (long long)value, end);
    return sql_script(store, sql);
}

/* The value of all rows, read by another process; -1: they differ, or the file is damaged. */
static int64_t value_of_all(void) {
    int ends[2];
    int64_t value = -1;
    check(pipe(ends) == 0, "pipe");
    if (fork() == 0) {
        struct store *store = open_database();
        if (sql_integer(store, "SELECT count(*) FROM t") == ROWS &&
            sql_integer(store, "SELECT count(DISTINCT n) FROM t") == 1 &&
            sql_integer(store, "SELECT count(*) FROM pragma_integrity_check "
                               "WHERE integrity_check = 'ok'") == 1)
            value = sql_integer(store, "SELECT n FROM t");
        _exit(write(ends[1], &value, sizeof value) != sizeof value);
    }
    check(read(ends[0], &value, sizeof value) == sizeof value, "read");
    close(ends[0]);
    close(ends[1]);
    wait(NULL);
    return value;
}

static void create(void) {
    struct store *store = open_database();
    sql_script(store, "PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, n, x); "
                      "WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c "
                      "WHERE i < 200) INSERT INTO t SELECT i, 0, zeroblob(500) FROM c; "
                      "CREATE INDEX t_n ON t (n); CREATE TABLE u (x)");
    check(!store->failure, "created");
    store_close(store);
}

/* Calls that wrote, of this process. */
static long long writes(void) {
    char line[100];
    long long count = -1;
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "syscw: %lld", &count);
    if (file)
        fclose(file);
    return count;
}

static void check_calls(void) {
    struct store *store = open_database();
    check(sql_script(store, "UPDATE t SET x = randomblob(500) WHERE id = 1"), "the first commit");
    const long long before = writes();
    check(sql_script(store, "UPDATE t SET x = randomblob(500) WHERE id IN (1, 60, 120)"),
          "a commit");
    const long long after = writes();
    check(before >= 0 && after == before + 1,
          "the frames of a commit are written by one call: %lld", after - before);
    const long long many = writes();
    check(set_all(store, 3, "COMMIT") && value_of_all() == 3, "more frames than the buffer holds");
    check(writes() - many >= 2, "by several calls");
    store_close(store);
}

static void check_spill(void) {
    struct store *small = open_small(), *other = open_database();
    for (int64_t i = 10; i < 30; i += 3) {
        check(set_all(small, i, "COMMIT") && value_of_all() == i,
              "pages written before the commit");
        check(set_all(small, i + 1, "ROLLBACK") && value_of_all() == i, "a rollback");
        check(set_all(other, i + 2, "COMMIT") && value_of_all() == i + 2,
              "frames that were rolled back are not written over another commit");
    }
    store_close(small);
    store_close(other);
    check(value_of_all() == 30, "after the checkpoint of the close");
}

static void commit_elsewhere(int64_t value) {
    if (fork() == 0) {
        struct store *store = open_database();
        _exit(!set_all(store, value, "COMMIT"));
    }
    int status;
    check(wait(&status) > 0 && status == 0, "another process commits");
}

/* New pages are written before the commit and not read again. */
static void check_rollback(void) {
    struct store *small = open_small();
    for (int64_t i = 32; i < 38; i++) {
        check(sql_script(small, "BEGIN IMMEDIATE; WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL "
                                "SELECT i + 1 FROM c WHERE i < 30) "
                                "INSERT INTO u SELECT randomblob(3500) FROM c; ROLLBACK"),
              "a rollback");
        commit_elsewhere(i);
        check(sql_script(small, "INSERT INTO u VALUES (1); DELETE FROM u"), "a commit");
        check(value_of_all() == i, "the commit of the other process is whole");
    }
    store_close(small);
}

static void check_full_disk(void) {
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    struct store *store = open_small();
    struct stat log;
    char name[310];
    snprintf(name, sizeof name, "%s-wal", path);
    signal(SIGXFSZ, SIG_IGN);
    check(set_all(store, 40, "COMMIT") && stat(name, &log) == 0, "the log");
    for (int more = 1; more < 120; more += 9) {
        const rlim_t most = (rlim_t)log.st_size + (rlim_t)more * 1000;
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, RLIM_INFINITY});
        check(!set_all(store, 41, "COMMIT"), "the file cannot grow");
        setrlimit(RLIMIT_FSIZE, &none);
        sqlite3_exec(sql_handle(store), "ROLLBACK", NULL, NULL, NULL);
        store->failure = STORE_OK;
        check(value_of_all() == 40, "nothing of the transaction is visible");
    }
    check(set_all(store, 42, "COMMIT") && value_of_all() == 42, "with space again");
    store_close(store);
}

/* Commits ascending values until it is killed, and reports each. */
static _Noreturn void commit_forever(int64_t from, int report) {
    struct store *store = from % 2 ? open_small() : open_database();
    for (int64_t i = from;; i++)
        if (!set_all(store, i, i % 3 ? "COMMIT" : "ROLLBACK") ||
            (i % 3 && write(report, &i, sizeof i) != sizeof i))
            _exit(1);
}

static void check_kills(void) {
    int64_t last = 99;
    for (int i = 0; i < KILLS; i++) {
        int ends[2];
        check(pipe(ends) == 0, "pipe");
        const pid_t pid = fork();
        if (pid == 0)
            commit_forever(last + 1, ends[1]);
        close(ends[1]);
        int64_t reported = last;
        check(read(ends[0], &reported, sizeof reported) == sizeof reported, "it commits");
        usleep((useconds_t)(i * 7919 % 20000)); /* anywhere in a transaction */
        kill(pid, SIGKILL);
        while (read(ends[0], &reported, sizeof reported) == sizeof reported)
            ;
        close(ends[0]);
        waitpid(pid, NULL, 0);
        last = value_of_all();
        check(last >= reported && last <= reported + 2 && last % 3,
              "every reported commit, and the whole of the last one: %lld, %lld",
              (long long)reported, (long long)last);
    }
}

/* In another process: runs the statement, reports it, and ends its transaction after so many ms. */
static pid_t hold(const char *sql, useconds_t ms) {
    int ends[2];
    char done;
    check(pipe(ends) == 0, "pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        struct store *store = open_database();
        if (!sql_script(store, sql) || write(ends[1], "", 1) != 1)
            _exit(1);
        usleep(ms * 1000);
        _exit(!sql_script(store, "COMMIT"));
    }
    check(read(ends[0], &done, 1) == 1, "the other process has begun: %s", sql);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

/* A checkpoint has the writer's lock: while it waits for a reader, all writers wait. */
static void check_checkpoint(void) {
    enum { TIMEOUT_MS = 60 * 1000 };
    struct store *store = open_database();
    int status = -1;
    check(store_set_lock_timeout(store, TIMEOUT_MS) == STORE_OK, "the timeout");
    const pid_t reader = hold("BEGIN; SELECT count(*) FROM t", TIMEOUT_MS * 5);
    check(set_all(store, 50, "COMMIT"), "a commit that the reader does not see");
    const int64_t began = clock_monotonic();
    check(store_tend(store, began) == STORE_BUSY, "the reader needs the log");
    check(clock_monotonic() - began < TIMEOUT_MS / 2, "a reader is not waited for");
    check(kill(reader, SIGKILL) == 0 && waitpid(reader, &status, 0) == reader, "the reader ends");
    const pid_t writer = hold("BEGIN IMMEDIATE; UPDATE t SET n = 51", 200);
    check(store_tend(store, began + 60 * 60 * 1000) == STORE_OK, "a writer is waited for");
    check(waitpid(writer, &status, 0) == writer && status == 0, "the writer has committed");
    store_close(store);
    check(value_of_all() == 51, "both commits are there");
}

int main(void) {
    char directory[] = "/tmp/switchboard-wal-XXXXXX", name[320];
    if (!mkdtemp(directory))
        return 1;
    snprintf(path, sizeof path, "%s/d", directory);
    create();
    check_calls();
    check_spill();
    check_rollback();
    check_full_disk();
    check_kills();
    check_checkpoint();
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    rmdir(directory);
    return check_failures();
}
