/* lib/engine/driver.h: which driver a target gets, and what a driver's `lock` is called with. */
#include "engine/driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "store/upkeep.h"

static void check_refused(const char *target, const char *named) {
    struct store *store;
    int from, to;
    CHECK(!driver_of(target));
    CHECK_INTEGER_AS(target, store_open(target, &store), STORE_UNAVAILABLE);
    CHECK_HOLDS_AS(target, store_reason(store), named);
    CHECK_HOLDS_AS(target, store_reason(store), "the absolute path of a SQLite database");
    check(!strstr(store_reason(store), "SECRET"), "%s", store_reason(store));
    store_release_view(store);
    store_close(store);
    CHECK_INTEGER_AS(target, store_open_for_reading(target, &store), STORE_UNAVAILABLE);
    store_close(store);
    CHECK_INTEGER_AS(target, store_migrate(target, &from, &to, &store), STORE_UNAVAILABLE);
    store_close(store);
    struct store_restoration done = {0};
    CHECK_INTEGER_AS(target, store_restore(target, "/dev/null", &done, &store), STORE_UNAVAILABLE);
    store_close(store);
}

static void check_targets(void) {
    struct arena arena;
    struct store_file *files;
    struct store_finding *findings;
    size_t count;
    CHECK(driver_of("/var/lib/a://b.db") == &sqlite_driver);
#ifdef SWITCHBOARD_POSTGRESQL
    CHECK(driver_of("postgresql://user:SECRET@h/d") != NULL);
#else
    check_refused("postgresql://user:SECRET@h/d", "postgresql://;");
#endif
    check_refused("sqlite://SECRET", "sqlite://;");
    check_refused("SECRET.db", "at that target;");
    check_refused("", "at that target;");

    arena_init(&arena, 1024 * 1024, NULL);
    store_list_files("postgresql://h/d", &arena, &files, &count);
    CHECK_INTEGER(count, 0);
    store_examine("postgresql://h/d", &arena, &findings, &count);
    CHECK_INTEGER(count, 0);
    store_list_files("/a/b.db", &arena, &files, &count);
    CHECK_INTEGER(count, 4);
    CHECK_TEXT(files[0].path, "/a/");
    CHECK_INTEGER(files[0].access, R_OK | W_OK | X_OK);
    CHECK_TEXT(files[3].path, "/a/b.db-shm");
    arena_free(&arena);
}

/* --- locks --- */

static char taken[256];

static void take_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                      const char *const *names, size_t count) {
    (void)store;
    static const char *const kinds[] = {[LOCK_IDENTITY] = "identity",
                                        [LOCK_USER] = "user",
                                        [LOCK_KEYS] = "keys",
                                        [LOCK_CHORES] = "chores"};
    snprintf(taken, sizeof taken, "%s %s:", kinds[kind], owner ? owner : "-");
    for (size_t i = 0; i < count; i++)
        snprintf(taken + strlen(taken), sizeof taken - strlen(taken), " %s", names[i]);
}

static bool is_free;

static bool try_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                     const char *const *names, size_t count) {
    take_lock(store, kind, owner, names, count);
    return is_free;
}

static const struct driver with_locks = {.lock = take_lock, .try_lock = try_lock};
static const struct driver without_locks = {0};

#define CHECK_LOCK(store, expected, kind, owner, ...)                                              \
    do {                                                                                           \
        const char *names_[] = {__VA_ARGS__};                                                      \
        taken[0] = '\0';                                                                           \
        sql_lock(store, kind, owner, names_, sizeof names_ / sizeof *names_);                      \
        CHECK_TEXT(taken, expected);                                                               \
    } while (0)

static void check_locks(void) {
    struct store store = {.driver = &with_locks};
    CHECK_LOCK(&store, "identity acc_1: 15551 US.1 a", LOCK_IDENTITY, "acc_1", "a", NULL, "US.1",
               "15551");
    CHECK_LOCK(&store, "identity acc_1: 15551 US.1 a", LOCK_IDENTITY, "acc_1", "15551", "a", "US.1",
               NULL);
    CHECK_LOCK(&store, "user -: usr_1", LOCK_USER, NULL, "usr_1");
    CHECK_LOCK(&store, "", LOCK_IDENTITY, "acc_1", NULL, NULL);
    taken[0] = '\0';
    sql_lock(&store, LOCK_KEYS, NULL, NULL, 0);
    CHECK_TEXT(taken, "keys -:");

    store.failure = STORE_BUSY; /* the transaction has failed already */
    CHECK_LOCK(&store, "", LOCK_USER, NULL, "usr_1");
    store = (struct store){.driver = &without_locks};
    CHECK_LOCK(&store, "", LOCK_USER, NULL, "usr_1");
    CHECK_INTEGER(store.failure, STORE_OK);
}

static void check_tried_locks(void) {
    static const char *const names[] = {"b", NULL, "a"};
    struct store store = {.driver = &with_locks};
    CHECK(!sql_try_lock(&store, LOCK_USER, NULL, names, 3));
    CHECK_TEXT(taken, "user -: a b");
    CHECK_INTEGER(store.failure, STORE_OK);
    is_free = true;
    CHECK(sql_try_lock(&store, LOCK_CHORES, NULL, NULL, 0));
    CHECK_TEXT(taken, "chores -:");
    CHECK(sql_try_lock(&store, LOCK_USER, NULL, &names[1], 1)); /* no name */
    CHECK_TEXT(taken, "chores -:");
    store.failure = STORE_BUSY;
    CHECK(!sql_try_lock(&store, LOCK_CHORES, NULL, NULL, 0));
    store = (struct store){.driver = &without_locks};
    CHECK(sql_try_lock(&store, LOCK_CHORES, NULL, NULL, 0));
}

/* --- statements --- */

static bool prepare_anything(struct store *store, struct statement *statement) {
    (void)store;
    statement->prepared = statement;
    return true;
}

static void start_nothing(struct store *store, struct statement *statement,
                          const struct parameter *parameters, size_t count) {
    (void)store, (void)statement, (void)parameters, (void)count;
}

static bool has_no_row(struct store *store, struct statement *statement) {
    (void)store, (void)statement;
    return false;
}

static void stop_nothing(struct statement *statement) {
    (void)statement;
}

static const struct driver with_statements = {
    .prepare = prepare_anything,
    .start = start_nothing,
    .row = has_no_row,
    .stop = stop_nothing,
};

/* A statement that is prepared on one store does not run on another. */
static void check_two_stores(void) {
    static struct statement s = {.sql = "SELECT 1"};
    struct store first = {.driver = &with_statements}, second = first;
    CHECK(sql_run(&first, &s, TEXT("a")));
    CHECK(sql_run(&first, &s, TEXT("a")));
    CHECK(!sql_run(&second, &s, TEXT("a")));
    CHECK_INTEGER(sql_result(&second), STORE_UNKNOWN);
    CHECK(sql_run(&first, &s, TEXT("a")));
    CHECK_INTEGER(sql_result(&first), STORE_OK);
}

int main(void) {
    check_targets();
    check_locks();
    check_tried_locks();
    check_two_stores();
    return check_failures();
}
