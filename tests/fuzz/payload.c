/* The platform's payloads, from bytes to rows: every JSON text is ingested without an error of the
 * store, and a second time changes nothing. */
#include <stdio.h>
#include <unistd.h>

#include "engine/sqlite.h"
#include "fuzz.h"
#include "payload/event_body.h"
#include "payload/forward_body.h"
#include "payload/updates.h"
#include "store/upkeep.h"

static const char fixture[] =
    "INSERT INTO user (id, email, created_at) VALUES ('usr_1', 'a@example.org', 1);"
    "INSERT INTO account (id, user_id, waba_id, name, created_at) VALUES ('acc_1', 'usr_1', '1', "
    "'A', 1);"
    "INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered, "
    "is_coexisting, "
    "created_at) VALUES ('lin_1', 'acc_1', '2', '+15550100001', 1, 0, 1);"
    "INSERT INTO webhook (id, user_id, kind, url, code, event_types, created_at, updated_at) "
    "VALUES ('whk_1', 'usr_1', 'event', 'http://127.0.0.1/', X'00', "
    "'message.received lead.created message.status', 1, 1);"
    "INSERT INTO webhook (id, user_id, kind, url, code, fields, splits_messages, created_at, "
    "updated_at) VALUES ('whk_2', 'usr_1', 'forward', 'http://127.0.0.1/', X'00', '*', 0, 1, 1), "
    "('whk_3', 'usr_1', 'forward', 'http://127.0.0.1/', X'00', NULL, 1, 1, 1);";

static struct store *store;

static void open_database(void) {
    char path[64], queue[80];
    int from, to;
    snprintf(path, sizeof path, "/dev/shm/switchboard-fuzz-%ld.db", (long)getpid());
    snprintf(queue, sizeof queue, "%s.queue", path);
    unlink(path);
    MUST(store_migrate(path, &from, &to, &store) == STORE_OK);
    unlink(path); /* the files are used by their descriptors */
    unlink(queue);
    MUST(sql_script(store, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; "
                           "PRAGMA synchronous = OFF"));
    MUST(sql_script(store, fixture));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct json payload;
    struct json_error error;
    struct store_payload found = {.now = 1, .write = event_body};
    if (!store)
        open_database();
    struct slice text = fuzz_copy(data, size);
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    if (json_read(&arena, text, &payload, &error) == 0) {
        struct forward_post raw = {text, payload};
        const struct store_post post = forward_body_post(&raw, &arena);
        found.post = &post;
        found.count = updates_read(&arena, payload, 1, SIZE_MAX, &found.updates);
        MUST(store_ingest(store, &arena, &found) == STORE_OK);
        found.count = updates_read(&arena, payload, 1, SIZE_MAX, &found.updates);
        MUST(store_ingest(store, &arena, &found) == STORE_OK);
        MUST(found.events == 0);
    }
    arena_free(&arena);
    free((char *)(size_t)text.p);
    return 0;
}
