/* Each allocation of a store fails in turn, once or with all that follow: nothing is half stored,
 * no lock is left, and the same connection works when there is memory again, as FastCGI processes
 * need it.
 *
 * SQLite only: memory is refused through SQLite's own allocator. */
#include <sqlite3.h>

#include "account_line.h"
#include "base/crypto.h"
#include "compare.h"

/* --- SQLite's allocator, with failures --- */

static sqlite3_mem_methods memory;
static long asked, fails_from, fails_to;

static bool must_fail(void) {
    asked++;
    return fails_from && asked >= fails_from && asked <= fails_to;
}

static void *allocate(int size) {
    return must_fail() ? NULL : memory.xMalloc(size);
}

static void *resize(void *p, int size) {
    return must_fail() ? NULL : memory.xRealloc(p, size);
}

static void watch_memory(void) {
    CHECK(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) == SQLITE_OK);
    sqlite3_mem_methods watched = memory;
    watched.xMalloc = allocate;
    watched.xRealloc = resize;
    CHECK(sqlite3_config(SQLITE_CONFIG_MALLOC, &watched) == SQLITE_OK);
}

/* Makes `many` allocations fail, from number `first` on; 0: all of them. */
static void starve(long first, long many) {
    asked = 0;
    fails_from = first;
    fails_to = many ? first + many - 1 : first + 1000000;
}

static bool was_starved(void) {
    bool was = asked >= fails_from;
    fails_from = 0;
    return was;
}

/* --- */

static enum store_result record(int number) {
    char wamid[32];
    struct store_send send = {
        .user_id = "usr_1",
        .account_id = account_id,
        .line_id = line_id,
        .phone = "15551230000",
        .wamid = wamid,
        .type = "text",
        .body = SLICE("{}"),
        .now = now,
    };
    snprintf(wamid, sizeof wamid, "wamid.%d", number);
    id_make(send.new_contact_id, "con_", now);
    id_make(send.new_thread_id, "thr_", now);
    id_make(send.message_id, "msg_", now);
    return store_insert_send(store, &send);
}

/* The store calls of a send: a look-up of an unknown token in a held view, then the record. */
static enum store_result serve(int number) {
    static const unsigned char no_token[CRYPTO_HASH_SIZE] = {1};
    struct store_user user;
    store_hold_view(store);
    enum store_result result = store_authenticate(store, &arena, no_token, &user);
    store_release_view(store);
    return result == STORE_NOT_FOUND ? record(number) : result;
}

/* A number that another connection reads from the database; -1 on an error. */
static int64_t look(sqlite3 *other, const char *sql) {
    sqlite3_stmt *query = NULL;
    int64_t number = -1;
    if (sqlite3_prepare_v2(other, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        number = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return number;
}

static bool may_write(sqlite3 *other) {
    return sqlite3_exec(other, "BEGIN IMMEDIATE; ROLLBACK", NULL, NULL, NULL) == SQLITE_OK;
}

/* A new connection each time, since an open one has its statements prepared. */
static void check_starved(long many) {
    sqlite3 *other;
    static int number;
    bool was = true;
    long points = 0;
    CHECK(sqlite3_open(database, &other) == SQLITE_OK);
    for (long n = 1; was; n++, points++) {
        store_close(store);
        check_ok(store_open(database, &store));
        starve(n, many);
        enum store_result result = serve(++number);
        was = was_starved();
        check(was || result == STORE_OK, "not starved at %ld: %d", n, result);
        check(may_write(other), "starved at %ld: a lock is left: %s", n, sqlite3_errmsg(other));
        check(look(other, "PRAGMA wal_checkpoint(TRUNCATE)") == 0, "starved at %ld: a view is left",
              n);
        enum store_result again = serve(number);
        check(again == STORE_OK, "starved at %ld: again: %s", n, store_reason(store));
    }
    CHECK(points > 50);
    CHECK_INTEGER(look(other, "SELECT count(*) FROM message"), number);
    CHECK_INTEGER(look(other, "SELECT count(*) FROM contact"), 1);
    sqlite3_close(other);
}

int main(void) {
    watch_memory();
    open_state();
    make_account();
    check_starved(1);
    check_starved(3);
    check_starved(0);
    close_state();
    return check_failures();
}
