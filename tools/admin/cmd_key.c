/* switchboard key: the keys that encrypt platform tokens and webhook codes at rest. Their list, and
 * their rotation in one step on a single host; the steps for several hosts are in cmd_key_step.c.
 */
#include "base/crypto.h"
#include "base/seal.h"
#include "base/target.h"
#include "command.h"
#include "key_hosts.h"
#include "key_round.h"
#include "nouns.h"
#include "output.h"
#include "store/sealed.h"

enum { ROUNDS = 100 }; /* at most so many rounds until no value is left that an old key sealed */

/* --- rotation --- */

static bool add_newest(struct key_round *round) {
    if (keyring_add(&round->ring))
        return true;
    fail("another rotation has filled the key file; try again");
    return false;
}

/* A key must be in the file for as long as the database holds a value that it sealed. So a new key
 * is written before its first value is committed, and the old keys are dropped only in a round that
 * has found no value to seal again. */
static bool drop_when_unused(struct key_round *round, size_t changed) {
    if (changed)
        return true;
    for (size_t i = 0; i + 1 < round->ring.count; i++)
        round->dropped[round->dropped_count++] = round->ring.keys[i].id;
    keyring_keep_newest(&round->ring);
    return key_round_write(round);
}

/* Adds the number of values sealed again to `*resealed`. */
static int drop_old_keys(struct key_round *round, size_t *resealed) {
    int status = EXIT_DONE;
    for (int i = 0; i < ROUNDS && status == EXIT_DONE && !round->is_written; i++) {
        size_t changed;
        status = key_round_run(round, &changed);
        *resealed += changed;
    }
    return status;
}

static int print_rotation(struct invocation *call, const struct key_round *last, size_t resealed) {
    struct json_writer json = object_start(call);
    json_write_integer(&json, "id", last->newest);
    json_write_integer(&json, "resealed", (int64_t)resealed);
    json_write_array(&json, "removed");
    for (size_t i = 0; i < last->dropped_count; i++)
        json_write_integer(&json, NULL, last->dropped[i]);
    json_write_end(&json);
    return object_print(call, &json,
                        "key %u seals; values resealed: %zu, old keys removed: %zu\nBackups made "
                        "before open only with a copy of the key file of their time",
                        last->newest, resealed, last->dropped_count);
}

int key_rotate(struct invocation *call) {
    struct key_round make_room = {.call = call, .reseals = true, .finish = drop_when_unused},
                     drop = make_room;
    struct key_round add = {
        .call = call, .reseals = true, .prepare = add_newest, .finish = key_round_finish};
    struct keyring ring;
    size_t resealed = 0, ignored = 0;
    if (!target_file(call->config.database))
        return fail("the database is on a server and may have several hosts, and this command "
                    "changes the key file of one: use `switchboard key add`, copy the key file to "
                    "all hosts, use `switchboard key use ID`, copy it again, and use `switchboard "
                    "key drop ID` for each old key");
    int status = key_ring_read(call, &ring);
    crypto_wipe(ring.keys, sizeof ring.keys);
    if (status == EXIT_DONE && ring.count == KEYRING_MAX)
        status = drop_old_keys(&make_room, &ignored);
    if (status == EXIT_DONE)
        status = key_round_run(&add, &resealed);
    if (status == EXIT_DONE)
        status = drop_old_keys(&drop, &resealed);
    return status == EXIT_DONE ? print_rotation(call, &drop, resealed) : status;
}

/* --- listing --- */

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

/* What is known of all hosts and keys. */
struct key_table {
    struct table table;
    struct json_writer json;
    const struct store_heartbeat *hosts;
    size_t host_count;
};

static void list_key(struct key_table *list, struct arena *arena, const struct keyring_key *key,
                     bool seals, size_t values) {
    struct buffer hosts = buffer_in(arena);
    struct json_writer *json = &list->json;
    table_cell(&list->table, arena_printf(arena, "%u", key->id));
    table_cell(&list->table, seals ? "yes" : "no");
    table_cell(&list->table, arena_printf(arena, "%zu", values));
    json_write_object(json, NULL);
    json_write_integer(json, "id", key->id);
    json_write_bool(json, "seals", seals);
    json_write_integer(json, "values", (int64_t)values);
    json_write_array(json, "hosts");
    for (size_t i = 0; i < list->host_count; i++)
        if (!key_host_problem(arena, &list->hosts[i], key)) {
            json_write_text(json, NULL, list->hosts[i].host);
            buffer_printf(&hosts, "%s%s", hosts.n ? "," : "", list->hosts[i].host);
        }
    json_write_end(json);
    json_write_end(json);
    table_cell(&list->table, arena_copy(arena, buffer_slice(&hosts)));
}

/* Warns of keys that values may be sealed with and that this host does not have. */
static void warn_of_others(struct invocation *call, const struct key_table *list,
                           const struct keyring *ring) {
    char own[KEYRING_NAMES_SIZE];
    keyring_names(ring, own);
    for (size_t i = 0; i < list->host_count; i++) {
        struct slice rest = slice_of(list->hosts[i].keys);
        while (rest.n && key_host_is_other(call, &list->hosts[i])) {
            struct slice name = slice_cut(&rest, ' ');
            if (!slice_has_word(slice_of(own), ' ', name))
                warn("host %s has a key %.*s, which this host does not have", list->hosts[i].host,
                     (int)strcspn(name.p, "-"), name.p);
        }
    }
}

int key_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    struct keyring ring;
    struct store_sealed *values;
    size_t count, opened[KEYRING_MAX + 1] = {0};
    enum store_result result = store_list_sealed(call->store, arena, &values, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    if (key_ring_read(call, &ring) != EXIT_DONE)
        return EXIT_FAILED;
    struct store_heartbeat *hosts;
    struct key_table list = {.json = list_start(call),
                             .table = TABLE(arena, "KEY", "SEALS", "VALUES", "HOSTS")};
    if ((result = store_list_heartbeats(call->store, arena, &hosts, &list.host_count)) != STORE_OK)
        return fail_store(call, result);
    list.hosts = hosts;
    for (size_t i = 0; i < count; i++) {
        size_t key = opening_key(call, &ring, &values[i]);
        opened[key]++;
        if (key == ring.count)
            warn("the %s %s cannot be opened with any key of the file", values[i].what,
                 values[i].owner);
    }
    for (size_t i = 0; i < ring.count; i++)
        list_key(&list, arena, &ring.keys[i], i + 1 == ring.count, opened[i]);
    warn_of_others(call, &list, &ring);
    crypto_wipe(ring.keys, sizeof ring.keys);
    int status = list_print(call, &list.json, &list.table);
    return opened[ring.count] ? fail("values that no key of %s opens: %zu",
                                     call->config.secret_key_file, opened[ring.count])
                              : status;
}
