/* switchboard key: the keys that encrypt platform tokens and webhook codes at rest. */
#include <errno.h>

#include "base/crypto.h"
#include "base/seal.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/sealed.h"

enum { ROUNDS = 100 }; /* at most so many rounds until no value is left that an old key sealed */

static int read_ring(struct invocation *call, struct keyring *ring) {
    const char *error;
    int failed = keyring_read(call->config.secret_key_file, &call->arena, ring, &error);
    return failed ? fail("%s", error) : EXIT_DONE;
}

/* The index in the ring of the key that opens the value; ring->count: none. */
static size_t opening_key(struct invocation *call, const struct keyring *ring,
                          const struct store_sealed *value) {
    size_t i = 0;
    for (struct keyring alone = {.count = 1}; i < ring->count; i++) {
        alone.keys[0] = ring->keys[i];
        struct slice secret = seal_open(&alone, &call->arena, value->value, value->seal_context);
        crypto_wipe(&alone, sizeof alone.keys);
        if (secret.p) {
            crypto_wipe((void *)(uintptr_t)secret.p, secret.n);
            break;
        }
    }
    return i;
}

/* --- rotation --- */

/* One transaction of a rotation. It holds the write lock, so no other process seals or rotates
 * meanwhile, and the key file may be read and replaced. */
struct round {
    struct invocation *call;
    bool adds; /* adds a new key; else: drops the old keys once no value is sealed with them */
    struct keyring ring;
    uint8_t newest;               /* the id that seals */
    uint8_t dropped[KEYRING_MAX]; /* ids */
    size_t dropped_count;
    bool is_done;
    bool has_failed; /* after the reason was printed */
};

static bool begin_round(void *context) {
    struct round *round = context;
    bool is_ready = read_ring(round->call, &round->ring) == EXIT_DONE;
    if (is_ready && round->adds && !keyring_add(&round->ring)) {
        fail("another rotation has filled the key file; try again");
        is_ready = false;
    }
    round->has_failed = !is_ready;
    round->newest = is_ready ? keyring_newest(&round->ring)->id : 0;
    return is_ready;
}

static struct slice reseal(void *context, const struct store_sealed *value) {
    struct round *round = context;
    struct arena *arena = &round->call->arena;
    if (value->value.n && (uint8_t)value->value.p[0] == round->newest)
        return value->value;
    struct slice secret = seal_open(&round->ring, arena, value->value, value->seal_context);
    if (!secret.p) {
        fail("the %s %s cannot be opened with any key of %s: restore the key, or replace the "
             "value; nothing was changed",
             value->what, value->owner, round->call->config.secret_key_file);
        round->has_failed = true;
        return secret;
    }
    struct slice sealed = seal_secret(&round->ring, arena, secret, value->seal_context);
    crypto_wipe((void *)(uintptr_t)secret.p, secret.n);
    return sealed;
}

/* A key must be in the file for as long as the database holds a value that it sealed. So a new key
 * is written before its first value is committed, and the old keys are dropped only in a round that
 * has found no value to seal again. */
static bool end_round(void *context, size_t changed) {
    struct round *round = context;
    const char *path = round->call->config.secret_key_file;
    if (!round->adds && changed)
        return true;
    if (!round->adds) {
        for (size_t i = 0; i + 1 < round->ring.count; i++)
            round->dropped[round->dropped_count++] = round->ring.keys[i].id;
        keyring_keep_newest(&round->ring);
    }
    round->is_done = true;
    if (keyring_replace(path, &round->ring) == 0)
        return true;
    fail("cannot replace the key file %s: %s", path, strerror(errno));
    round->has_failed = true;
    return false;
}

static int run_round(struct round *round, size_t *changed) {
    struct invocation *call = round->call;
    enum store_result result =
        store_reseal(call->store, &call->arena,
                     &(struct store_resealing){round, begin_round, reseal, end_round}, changed);
    crypto_wipe(&round->ring.keys, sizeof round->ring.keys - sizeof *round->ring.keys);
    if (round->has_failed)
        return EXIT_FAILED;
    return result == STORE_OK ? EXIT_DONE : fail_store(call, result);
}

/* Adds the number of values sealed again to `*resealed`. */
static int drop_old_keys(struct round *round, size_t *resealed) {
    int status = EXIT_DONE;
    for (int i = 0; i < ROUNDS && status == EXIT_DONE && !round->is_done; i++) {
        size_t changed;
        status = run_round(round, &changed);
        *resealed += changed;
    }
    return status;
}

static int print_rotation(struct invocation *call, const struct round *last, size_t resealed) {
    struct json_writer json = object_start(call);
    json_write_integer(&json, "id", last->newest);
    json_write_integer(&json, "resealed", (int64_t)resealed);
    json_write_array(&json, "removed");
    for (size_t i = 0; i < last->dropped_count; i++)
        json_write_integer(&json, NULL, last->dropped[i]);
    json_write_end(&json);
    return object_print(call, &json, "key %u seals; values resealed: %zu, old keys removed: %zu",
                        last->newest, resealed, last->dropped_count);
}

int key_rotate(struct invocation *call) {
    struct round make_room = {.call = call}, add = {.call = call, .adds = true},
                 drop = {.call = call};
    struct keyring ring;
    size_t resealed = 0, ignored = 0;
    int status = read_ring(call, &ring);
    crypto_wipe(ring.keys, sizeof ring.keys);
    if (status == EXIT_DONE && ring.count == KEYRING_MAX)
        status = drop_old_keys(&make_room, &ignored);
    if (status == EXIT_DONE)
        status = run_round(&add, &resealed);
    if (status == EXIT_DONE)
        status = drop_old_keys(&drop, &resealed);
    return status == EXIT_DONE ? print_rotation(call, &drop, resealed) : status;
}

/* --- listing --- */

static void list_key(struct table *table, struct json_writer *json, struct arena *arena,
                     unsigned id, bool seals, size_t values) {
    table_cell(table, arena_printf(arena, "%u", id));
    table_cell(table, seals ? "yes" : "no");
    table_cell(table, arena_printf(arena, "%zu", values));
    json_write_object(json, NULL);
    json_write_integer(json, "id", id);
    json_write_bool(json, "seals", seals);
    json_write_integer(json, "values", (int64_t)values);
    json_write_end(json);
}

int key_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    struct keyring ring;
    struct store_sealed *values;
    size_t count, opened[KEYRING_MAX + 1] = {0};
    enum store_result result = store_list_sealed(call->store, arena, &values, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    if (read_ring(call, &ring) != EXIT_DONE)
        return EXIT_FAILED;
    struct json_writer json = list_start(call);
    struct table table = TABLE(arena, "KEY", "SEALS", "VALUES");
    for (size_t i = 0; i < count; i++) {
        size_t key = opening_key(call, &ring, &values[i]);
        opened[key]++;
        if (key == ring.count)
            warn("the %s %s cannot be opened with any key of the file", values[i].what,
                 values[i].owner);
    }
    for (size_t i = 0; i < ring.count; i++)
        list_key(&table, &json, arena, ring.keys[i].id, i + 1 == ring.count, opened[i]);
    crypto_wipe(ring.keys, sizeof ring.keys);
    int status = list_print(call, &json, &table);
    return opened[ring.count] ? fail("values that no key of %s opens: %zu",
                                     call->config.secret_key_file, opened[ring.count])
                              : status;
}
