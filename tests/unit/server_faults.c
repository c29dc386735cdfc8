/* Failures of a database server that a transaction or a read survives, and those that it reports in
 * time (lib/engine/sql.h, sql_transact). server_faults.h has those of each use-case. */
#include "account_line.h"

#ifndef SWITCHBOARD_POSTGRESQL
int main(void) {
    puts("skipped: this build supports no database on a server");
    return 0;
}
#else

#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/postgresql.h"
#include "store/second_factor.h"
#include "store/user_webhook.h"

static PGconn *other; /* a session of another program */

static void run_other(const char *sql) {
    PGresult *result = PQexec(other, sql);
    const ExecStatusType status = PQresultStatus(result);
    check(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s: %s", sql,
          PQerrorMessage(other));
    PQclear(result);
}

static void finish_other(void) {
    for (PGresult *result; (result = PQgetResult(other));) {
        check(PQresultStatus(result) != PGRES_FATAL_ERROR, "%s", PQerrorMessage(other));
        PQclear(result);
    }
}

static void wait_ms(long ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000 * 1000}, NULL);
}

static void end_session(void) {
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(%d, 10000)",
             PQbackendPID(postgresql_handle(store)));
    run_other(sql);
}

static struct statement update = {.sql = "UPDATE \"user\" SET verifying_until = ?2 WHERE id = ?1"};

static struct statement look = {.sql = "SELECT verifying_until FROM \"user\" WHERE id = ?1"};

static bool update_user(const char *id, int64_t value) {
    return sql_run(store, &update, TEXT(id), INTEGER(value));
}

/* --- repeated --- */

/* The other session waits for the store's lock for longer than deadlock_timeout, so that the server
 * ends the store's transaction. The repetition begins after the commit of the other session,
 * because it could lock the row before that session wakes, and would meet the next deadlock. */
static void check_deadlock(void) {
    int runs = 0;
    run_other("BEGIN; UPDATE \"user\" SET verifying_until = 7 WHERE id = 'usr_2'");
    while (sql_transact(store)) {
        if (runs == 1)
            finish_other();
        update_user("usr_1", 8);
        if (++runs == 1) {
            check(PQsendQuery(other, "UPDATE \"user\" SET verifying_until = 7 WHERE id = 'usr_1'; "
                                     "COMMIT") == 1,
                  "%s", PQerrorMessage(other));
            wait_ms(1500);
        }
        update_user("usr_2", 8);
    }
    check_ok(sql_result(store));
    check(runs == 2, "%d runs after a deadlock", runs);
}

static void check_serialization(void) {
    static struct statement isolate = {.sql = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"};
    int runs = 0;
    while (sql_transact(store)) {
        sql_start_with(store, &isolate, NULL, 0);
        sql_start(store, &look, TEXT("usr_1"));
        sql_row(store, &look);
        sql_stop(&look);
        if (++runs == 1)
            run_other("UPDATE \"user\" SET verifying_until = 9 WHERE id = 'usr_1'");
        update_user("usr_1", 10);
    }
    check_ok(sql_result(store));
    check(runs == 2, "%d runs after a serialization failure", runs);
}

static void check_most_repeats(void) {
    static struct statement fail = {
        .sql = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$"};
    int runs = 0;
    while (sql_transact(store)) {
        runs++;
        update_user("usr_1", 11);
        sql_start_with(store, &fail, NULL, 0);
    }
    const enum store_result result = sql_result(store);
    check(result == STORE_BUSY && runs == 6, "%d after %d runs", result, runs);
}

/* A server that became a standby: it takes no writes. */
static void check_read_only(void) {
    PQclear(PQexec(postgresql_handle(store), "SET default_transaction_read_only = on"));
    check_ok(store_end_verification(store, "usr_1"));
}

static void check_lost_read(void) {
    struct store_webhook webhook;
    end_session();
    check(store_is_alive(store, database), "a process that may connect keeps the store");
    check_ok(store_find_first_webhook(store, &arena, "usr_1", &webhook));
    check(strcmp(webhook.url, "http://127.0.0.1:9/") == 0, "%s", webhook.url);
}

/* --- reported --- */

static void check_timed(const char *what, enum store_result expected, int64_t least, int64_t most) {
    const int64_t started = clock_monotonic();
    const enum store_result result = store_end_verification(store, "usr_1");
    const int64_t took = clock_monotonic() - started;
    check(result == expected, "%s: %d %s", what, result, store_reason(store));
    check(took >= least && took <= most, "%s took %lld ms", what, (long long)took);
}

static void check_lock_timeout(void) {
    check_ok(store_set_lock_timeout(store, 300));
    run_other("BEGIN; UPDATE \"user\" SET verifying_until = 12 WHERE id = 'usr_1'");
    check_timed("a lock", STORE_BUSY, 300, 5000);
    check(!store_is_unreachable(store), "a lock is not a lost connection");
    run_other("ROLLBACK");
    check_timed("no lock", STORE_OK, 0, 5000);
}

/* Lets the server refuse connections to the database, or accept them after a while. */
static void allow_connections(PGconn *administrator, bool allows) {
    char sql[200];
    snprintf(sql, sizeof sql, "%sALTER DATABASE \"%s\" ALLOW_CONNECTIONS %s",
             allows ? "SELECT pg_sleep(0.5); " : "", PQdb(other), allows ? "true" : "false");
    check(PQsendQuery(administrator, sql) == 1, "%s", PQerrorMessage(administrator));
    for (PGresult *result; !allows && (result = PQgetResult(administrator)); PQclear(result))
        check(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(administrator));
}

static void check_unreachable(void) {
    PGconn *administrator =
        PQsetdbLogin(PQhost(other), NULL, NULL, NULL, "postgres", PQuser(other), NULL);
    end_session();
    allow_connections(administrator, false);
    check_timed("a server that refuses connections", STORE_UNAVAILABLE, 0, 5000);
    check(store_is_unreachable(store), "%s", store_reason(store));
    check_ok(store_set_lock_timeout(store, 20000));
    allow_connections(administrator, true);
    check_timed("a server that accepts connections again", STORE_OK, 1, 20000);
    PQfinish(administrator);
}

/* --- limited --- */

static struct statement sleep_some = {.sql = "SELECT pg_sleep(CAST(?1 AS BIGINT) / 1000.0)"};

/* The limit of a COMMIT, 10 s, is not that of the statements that are sent together with it. */
static void check_slow_statement(void) {
    while (sql_transact(store)) {
        sql_run_later(store, &update, TEXT("usr_1"), INTEGER(13));
        sql_run_later(store, &sleep_some, INTEGER(11000));
    }
    check_ok(sql_result(store));
}

/* A session whose answer is not awaited any more ends, with its locks, before this process uses the
 * store again. */
static void check_unanswered(void) {
    const pid_t session = PQbackendPID(postgresql_handle(store));
    store_limit_time(store, 100);
    while (sql_transact(store)) {
        update_user("usr_1", 14);
        check(kill(session, SIGSTOP) == 0, "kill");
        update_user("usr_1", 15);
    }
    check(sql_result(store) == STORE_UNAVAILABLE, "%s", store_reason(store));
    store_limit_time(store, 0);
    check(kill(session, SIGCONT) == 0, "kill");
    run_other("BEGIN; SET LOCAL lock_timeout = 30000; "
              "UPDATE \"user\" SET verifying_until = 16 "
              "WHERE id = 'usr_1' AND verifying_until = 13; COMMIT");
    sql_start(store, &look, TEXT("usr_1"));
    check(sql_row(store, &look) && column_integer(&look, 0) == 16,
          "what had no answer is rolled back: %s", store_reason(store));
    sql_stop(&look);
}

/* A transaction of several statements, each of which takes `ms`. */
static enum store_result sleep_within(int64_t most_work, int64_t most_ms, int count, int64_t ms) {
    store_limit_work(store, most_work);
    store_limit_time(store, most_ms);
    while (sql_transact(store))
        for (int i = 0; i < count && sql_is_within_limit(store, 0); i++) {
            sql_start(store, &sleep_some, INTEGER(ms));
            if (sql_row(store, &sleep_some))
                sql_stop(&sleep_some);
        }
    return sql_result(store);
}

static void check_late(enum store_result result, enum store_result expected, const char *reason) {
    check(result == expected && strstr(store_reason(store), reason), "%d %s", result,
          store_reason(store));
    check(store_end_verification(store, "usr_1") != STORE_OK,
          "the limit is that of all later transactions");
    store_limit_work(store, 0);
    store_limit_time(store, 0);
    check_ok(store_end_verification(store, "usr_1"));
}

static void check_limit_of_time(void) {
    static const char cancelled[] = "statement timeout", late[] = "did not end within";
    check_late(sleep_within(1000000, 600, 1, 600000), STORE_EXCESSIVE, cancelled);
    check_late(sleep_within(0, 600, 1, 600000), STORE_BUSY, cancelled);
    check_late(sleep_within(0, 600, 100000, 10), STORE_BUSY, late);
    check_late(sleep_within(1000000, 5000, 100000, 10), STORE_BUSY, late);
    check_late(sleep_within(4000, 1000, 39, 50), STORE_EXCESSIVE, late);
    PGresult *left = PQexec(postgresql_handle(store), "SHOW statement_timeout");
    check(strcmp(PQgetvalue(left, 0, 0), "0") == 0, "the session has no limit: %s",
          PQgetvalue(left, 0, 0));
    PQclear(left);
}

/* Many statements are sent before a result is read. */
static void check_limit_of_unread(void) {
    store_limit_work(store, 10000000);
    store_limit_time(store, 1000);
    while (sql_transact(store))
        for (int i = 0; i < 100000 && !sql_failed(store); i++)
            sql_run_later(store, &sleep_some, INTEGER(10));
    check_late(sql_result(store), STORE_EXCESSIVE, "");
}

static enum store_result update_rows_within(int64_t most_work) {
    static struct statement s = {.sql = "UPDATE limited SET n = n + ?1"};
    store_limit_work(store, most_work);
    while (sql_transact(store)) {
        sql_run(store, &s, INTEGER(1));
        sql_is_within_limit(store, 0);
    }
    store_limit_work(store, 0);
    return sql_result(store);
}

/* 100 units for the statement, and 400 for each of 999 rows. */
static void check_work_of_rows(void) {
    run_other("CREATE TABLE limited (n BIGINT); INSERT INTO limited SELECT 0 FROM "
              "generate_series(1, 1000)");
    check(update_rows_within(399699) == STORE_EXCESSIVE, "%s", store_reason(store));
    check_ok(update_rows_within(399700));
    check(postgresql_integer(store, "SELECT CAST(sum(n) AS BIGINT) FROM limited") == 1000,
          "the first transaction changed nothing");
    run_other("DROP TABLE limited");
}

static void check_large_value(void) {
    while (sql_transact(store))
        sql_run(store, &update, BLOB(((struct slice){"", (size_t)1 << 30})), INTEGER(1));
    check(sql_result(store) == STORE_UNKNOWN && strstr(store_reason(store), "larger than the 1 GB"),
          "%s", store_reason(store));
}

/* A process that may not connect. */
static void check_confined(void) {
    store_forbid_reconnecting(store);
    check(store_is_alive(store, database), "%s", store_reason(store));
    end_session();
    check(!store_is_alive(store, database), "the end of the session is noticed");
    check_timed("a lost connection", STORE_UNAVAILABLE, 0, 1000);
    check(store_is_unreachable(store), "%s", store_reason(store));
    check_timed("the next call", STORE_UNAVAILABLE, 0, 1000);
}

/* --- a login that ends meanwhile --- */

/* The fifth wrong code ends a login in another session, which commits after the right code was
 * received: that one counts no more, and is not used up. */
static void check_ended_login(void) {
    unsigned char hash[CRYPTO_HASH_SIZE], code[CRYPTO_HASH_SIZE];
    const struct store_proof proof = {.code = code};
    struct store_new_session session = {
        .id = "ses_1", .member_id = "mbr_2", .address = "::1", .agent = "", .now = now};
    memset(hash, 1, sizeof hash);
    memset(code, 2, sizeof code);
    run_other("INSERT INTO pending_login (hash, member_id, is_by_link, expires_at) "
              "VALUES (decode(repeat('01', 32), 'hex'), 'mbr_2', 0, 9000000000000000)");
    run_other("INSERT INTO recovery_code VALUES ('mbr_2', decode(repeat('02', 32), 'hex'))");
    run_other("BEGIN; DELETE FROM pending_login");
    check(PQsendQuery(other, "SELECT pg_sleep(0.5); COMMIT") == 1, "%s", PQerrorMessage(other));
    const enum store_result result = store_end_pending(store, hash, &proof, &session);
    check(result == STORE_NOT_FOUND, "a login that has ended: %d", result);
    finish_other();
    check(postgresql_integer(store, "SELECT count(*) FROM session") == 0, "it has a session");
    check(postgresql_integer(store, "SELECT count(*) FROM recovery_code") == 1, "a code was used");
}

int main(void) {
    if (!getenv("TEST_DATABASE")) {
        puts("skipped: TEST_DATABASE names no database on a server");
        return 0;
    }
    log_to("/dev/null"); /* the store logs each repetition */
    open_state();
    struct store_new_user second = {.id = "usr_2",
                                    .member_id = "mbr_2",
                                    .email = "b@example.org",
                                    .token_hash = {2},
                                    .now = now};
    check_ok(store_insert_user(store, &second));
    other = PQconnectdb(database);
    check_ended_login();
    check_deadlock();
    check_serialization();
    check_most_repeats();
    check_read_only();
    check_lost_read();
    check_lock_timeout();
    check_slow_statement();
    check_unanswered();
    check_limit_of_time();
    check_limit_of_unread();
    check_work_of_rows();
    check_unreachable();
    check_large_value();
    check_confined();
    PQfinish(other);
    close_state();
    return check_failures();
}
#endif
