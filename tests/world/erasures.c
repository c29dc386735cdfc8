/* The erasures of a world: the operator erases people, while they write and get messages. In a
 * world with erasures no number changes its owner, so that a number names a person.
 *
 * What was stored when an erasure began is gone at the end, and what comes after it has ended is
 * stored; what comes between is one or the other. */
#include <sqlite3.h>
#include <string.h>

#include "store/retention.h"
#include "world.h"

enum { MOST = 64, MESSAGES = 4096, RETRY_SECONDS = 10 };
enum { CLOCK_DAYS = 1 }; /* more than the host's clock is wrong */

static struct {
    struct erasure {
        const char *phone, *contact_id;
        int64_t ended; /* INT64_MAX: it has not ended yet */
    } list[MOST];
    size_t count;
    const char *taken[MESSAGES]; /* ids of the messages that were stored when an erasure began */
    size_t taken_count, listed;  /* those behind `taken_count` are of the last one */
    bool runs;
} all;

static struct erasure *last(void) {
    return &all.list[all.count - 1];
}

void erasures_begin(void) {
    memset(&all, 0, sizeof all);
}

/* --- an erasure --- */

static void take_contact(sqlite3_stmt *row) {
    last()->contact_id = world_print("%s", (const char *)sqlite3_column_text(row, 0));
}

static void take_message(sqlite3_stmt *row) {
    if (all.listed == MESSAGES)
        world_violate("the world has too many messages for its erasures");
    else
        all.taken[all.listed++] = world_print("%s", (const char *)sqlite3_column_text(row, 0));
}

static void attempt(struct event *event);

/* A command that was killed is repeated: it may have begun the erasure. */
static void after_attempt(const char *output, uint64_t random) {
    struct erasure *erasure = last();
    if (!output) {
        world_at(world_now() + RETRY_SECONDS * SECOND, attempt, NULL, (int64_t)random);
        return;
    }
    all.taken_count = all.listed;
    all.runs = false;
    erasure->ended = world_now();
    people_show(erasure->phone, random);
}

static void attempt(struct event *event) {
    gateway_erase(last()->contact_id, (uint64_t)event->value, after_attempt);
}

void erasures_request(const struct act *act) {
    uint64_t random = act->random;
    if (all.runs || all.count == MOST)
        return;
    all.list[all.count++] = (struct erasure){.phone = people_phone(&random), .ended = INT64_MAX};
    all.listed = all.taken_count;
    gateway_rows(world_print("SELECT id FROM contact WHERE phone = '%s'", last()->phone),
                 take_contact);
    if (!last()->contact_id) { /* nothing of the person is stored yet, or a process holds a lock */
        all.count--;
        return;
    }
    gateway_rows(world_print("SELECT m.wamid FROM message m JOIN thread t ON t.id = m.thread_id "
                             "WHERE t.contact_id = '%s'",
                             last()->contact_id),
                 take_message);
    all.runs = true;
    world_note("the person with %s is erased: %s, %zu messages", last()->phone, last()->contact_id,
               all.listed - all.taken_count);
    world_at(world_now(), attempt, NULL, (int64_t)random);
}

/* --- what is left of a message --- */

static bool is_taken(const char *wamid) {
    for (size_t i = 0; i < all.taken_count; i++)
        if (strcmp(all.taken[i], wamid) == 0)
            return true;
    return false;
}

enum fate erasures_fate(const char *phone, const char *wamid, int64_t at) {
    if (is_taken(wamid))
        return IS_ERASED;
    if (world.retains && at <= world_now() - (RETENTION_LEAST_DAYS - CLOCK_DAYS) * DAY)
        return MAY_BE_ERASED;
    for (size_t i = 0; i < all.count; i++)
        if (at <= all.list[i].ended && strcmp(all.list[i].phone, phone) == 0)
            return MAY_BE_ERASED;
    return IS_STORED;
}

static void check_message(sqlite3_stmt *row) {
    const char *wamid = (const char *)sqlite3_column_text(row, 0);
    if (is_taken(wamid))
        world_violate("%s was erased, and it is stored again", wamid);
}

void erasures_check(void) {
    gateway_rows("SELECT wamid FROM message", check_message);
}

bool erasures_are_done(void) {
    return !all.runs;
}

bool erasures_happened(void) {
    return all.count > 0;
}
