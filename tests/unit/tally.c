/* lib/engine/tally.h: what a transaction collects is written once and in order, is undone with a
 * savepoint, and does not outlive the transaction. */
#include "engine/tally.h"

#include <stdio.h>

#include "account_line.h"
#include "compare.h"

struct count {
    char name[ID_SIZE];
    int number;
};

static char written[256];
static bool fails;

static bool write_count(struct store *to, void *entry) {
    const struct count *count = entry;
    const size_t n = strlen(written);
    snprintf(written + n, sizeof written - n, "%s%d ", count->name, count->number);
    if (fails)
        sql_abandon(to);
    return !fails;
}

static struct count first_room[2 * 2], second_room[2 * 2];
static struct tally first = {
    .name = "a", TALLY_IN(first_room), .order = tally_by_text, .write = write_count};
static struct tally second = {
    .name = "b", TALLY_IN(second_room), .order = tally_by_text, .write = write_count};

static bool add(struct tally *tally, const char *name) {
    struct count *known = tally_find(tally, tally_by_text, name), fresh = {.number = 0};
    snprintf(fresh.name, sizeof fresh.name, "%s", name);
    if (!known && !(known = tally_add(store, tally, &fresh)))
        return false;
    known->number++;
    return true;
}

static void check_order(void) {
    *written = '\0';
    while (sql_transact(store)) {
        CHECK(add(&second, "y") && add(&first, "z") && add(&first, "x") && add(&second, "y"));
        CHECK_TEXT(written, "");
    }
    check_ok(sql_result(store));
    CHECK_TEXT(written, "x1 z1 y2 ");
    CHECK(!tally_find(&first, tally_by_text, "x"));
}

static void check_room(void) {
    *written = '\0';
    while (sql_transact(store)) {
        CHECK(add(&first, "z") && add(&first, "y") && add(&first, "x"));
        CHECK_TEXT(written, "y1 z1 ");
        CHECK(!tally_find(&first, tally_by_text, "z"));
        CHECK(tally_write(store, &first) && tally_write(store, &first));
        CHECK_TEXT(written, "y1 z1 x1 ");
    }
    check_ok(sql_result(store));
    CHECK_TEXT(written, "y1 z1 x1 ");
}

static void check_savepoint(void) {
    *written = '\0';
    while (sql_transact(store)) {
        CHECK(add(&first, "x"));
        tally_save_all(store);
        CHECK(add(&first, "x") && add(&first, "y") && add(&second, "z"));
        tally_restore_all(store);
        CHECK(add(&first, "x"));
    }
    check_ok(sql_result(store));
    CHECK_TEXT(written, "x2 ");
}

/* A failure while it writes fails the transaction; after a failure nothing is written. */
static void check_refused_writes(void) {
    *written = '\0';
    fails = true;
    while (sql_transact(store))
        CHECK(add(&first, "x") && add(&first, "y"));
    CHECK_INTEGER(sql_result(store), STORE_UNKNOWN);
    CHECK_TEXT(written, "x1 ");
    fails = false;
    while (sql_transact(store)) {
        CHECK(add(&first, "x"));
        sql_abandon(store);
        CHECK(!add(&first, "y"));
    }
    CHECK_INTEGER(sql_result(store), STORE_UNKNOWN);
    while (sql_transact(store))
        CHECK(!tally_find(&first, tally_by_text, "x"));
    check_ok(sql_result(store));
    CHECK_TEXT(written, "x1 ");
}

/* A tally that is in use is refused to another store. */
static void check_other_store(void) {
    struct store *other, *const own = store;
    CHECK_INTEGER(store_open(database, &other), STORE_OK);
    while (sql_transact(store)) {
        CHECK(add(&first, "x"));
        store = other;
        CHECK(!add(&first, "y"));
        CHECK_TEXT(store_reason(other), "another store has an open transaction");
        store = own;
    }
    check_ok(sql_result(store));
    store_close(other);
}

int main(void) {
    open_state();
    check_order();
    check_room();
    check_savepoint();
    check_refused_writes();
    check_other_store();
    close_state();
    return check_failures();
}
