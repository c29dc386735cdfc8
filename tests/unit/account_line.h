/* A database for a unit test: open_state() creates it with a user, make_account() adds an account
 * with an unused line, take() ingests a payload for that line, close_state() removes everything. */
#ifndef SWITCHBOARD_TEST_ACCOUNT_LINE_H
#define SWITCHBOARD_TEST_ACCOUNT_LINE_H

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "payload/event_body.h"
#include "payload/updates.h"
#include "store/admin.h"
#include "store/listing.h"
#include "store/upkeep.h"
#include "store/user_webhook.h"

static const int64_t now = INT64_C(1790000000000);

static struct store *store;
static struct arena arena;
static char account_id[ID_SIZE], line_id[ID_SIZE], line_name[32], waba[32];
static char database[4096];

#define check_ok(call)                                                                             \
    do {                                                                                           \
        enum store_result result_ = (call);                                                        \
        check(result_ == STORE_OK, "%s", store_reason(store));                                     \
    } while (0)

static inline const char *fresh_id(const char *prefix) {
    char *id = arena_alloc(&arena, ID_SIZE);
    id_make(id, prefix, now);
    return id;
}

static inline struct slice seal_nothing(void *context) {
    (void)context;
    return SLICE("sealed");
}

/* TEST_DATABASE is an empty database on a server; without it a file is made. */
static inline void choose_database(void) {
    const char *temporary = getenv("TMPDIR"), *given = getenv("TEST_DATABASE");
    if (access("/dev/shm", W_OK) == 0) /* faster than a disk */
        temporary = "/dev/shm";
    if (given) {
        snprintf(database, sizeof database, "%s", given);
        return;
    }
    int n = snprintf(database, sizeof database, "%s/unit-XXXXXX", temporary ? temporary : "/tmp");
    check(mkdtemp(database) != NULL, "%s", database);
    snprintf(database + n, sizeof database - (size_t)n, "/db");
}

static inline void open_state(void) {
    int from, to;
    choose_database();
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    check_ok(store_migrate(database, &from, &to, &store));
    struct store_new_user user = {
        .id = "usr_1", .member_id = "mbr_1", .email = "ann@example.org", .now = now};
    check_ok(store_insert_user(store, &user));
    struct store_secret code = {.seal = seal_nothing};
    check_ok(store_upsert_webhook_config(store, "usr_1", "http://127.0.0.1:9/", &code, now));
}

static inline void close_state(void) {
    char queue[sizeof database + 8];
    store_close(store);
    arena_free(&arena);
    if (*database != '/')
        return;
    unlink(database);
    snprintf(queue, sizeof queue, "%s.queue", database);
    unlink(queue);
    *strrchr(database, '/') = '\0';
    rmdir(database);
}

/* Adds an account of the user with this email, with a line; `number` is part of their ids. */
static inline void make_line_of(const char *owner, int number) {
    snprintf(waba, sizeof waba, "9%d", number);
    snprintf(line_name, sizeof line_name, "8%d", number);
    snprintf(account_id, sizeof account_id, "%s", fresh_id("acc_"));
    struct store_new_account account = {
        .id = account_id, .email = owner, .waba_id = waba, .name = "A", .now = now};
    struct store_new_line line = {.id = fresh_id("lin_"),
                                  .account_id = account_id,
                                  .phone_number_id = line_name,
                                  .phone_number = "+15550100",
                                  .is_registered = true,
                                  .now = now};
    check_ok(store_insert_account(store, &account));
    check_ok(store_insert_line(store, &line, line_id));
}

static inline void make_account(void) {
    static int number;
    make_line_of("ann@example.org", ++number);
}

/* Ingests the changes, in which @ is replaced by the line. Each must be stored or a duplicate.
 * Returns the number of events. */
static inline size_t take(const char *changes) {
    struct buffer text = buffer_in(&arena);
    struct store_update *updates = NULL;
    struct json payload;
    struct json_error error;
    struct store_payload found = {.now = now, .write = event_body};
    buffer_printf(&text, "{\"entry\":[{\"id\":\"%s\",\"changes\":[", waba);
    for (const char *p = changes; *p; p++)
        if (*p == '@')
            buffer_add_text(&text, line_name);
        else
            buffer_add_char(&text, *p);
    buffer_add_text(&text, "]}]}");
    bool is_read = json_read(&arena, buffer_slice(&text), &payload, &error) == 0;
    check(is_read, "%s", buffer_slice(&text).p);
    size_t n = is_read ? updates_read(&arena, payload, now, SIZE_MAX, &updates) : 0;
    found.updates = updates;
    found.count = n;
    check_ok(store_ingest(store, &arena, &found));
    for (size_t i = 0; i < n; i++)
        check(updates[i].outcome == OUTCOME_STORED || updates[i].outcome == OUTCOME_DUPLICATE,
              "%s: outcome %d", changes, updates[i].outcome);
    return found.events;
}

#endif
