/* switchboard key add, use and drop: the rotation of keys in steps. Between them the operator
 * copies the key file to the other hosts, so that each host can open what any other has sealed.
 * Each step may be run again after it was interrupted. */
#include <stdlib.h>

#include "base/crypto.h"
#include "command.h"
#include "key_hosts.h"
#include "key_round.h"
#include "nouns.h"
#include "output.h"

enum { ROUNDS = 100 }; /* at most so many rounds until no value is left that the key sealed */

static unsigned id_of(const struct invocation *call) {
    return (unsigned)strtoul(call->operands[0], NULL, 10);
}

static bool fail_id(const struct key_round *round) {
    fail("%s has no key %u; `switchboard key list` shows the keys",
         round->call->config.secret_key_file, round->id);
    return false;
}

/* --- key add --- */

static bool add_first(struct key_round *round) {
    const struct keyring_key *added = keyring_add_first(&round->ring);
    if (!added) {
        fail("%s has %d keys, which is the maximum: `switchboard key drop ID` removes one",
             round->call->config.secret_key_file, KEYRING_MAX);
        return false;
    }
    round->id = added->id;
    return true;
}

int key_add(struct invocation *call) {
    struct key_round round = {.call = call, .prepare = add_first, .finish = key_round_finish};
    size_t changed;
    int status = key_round_run(&round, &changed);
    if (status != EXIT_DONE)
        return status;
    struct json_writer json = object_start(call);
    json_write_integer(&json, "id", round.id);
    json_write_integer(&json, "seals", round.newest);
    const char *seen = key_hosts_seen(call, &json);
    return object_print(call, &json,
                        "key %u was added to %s, key %u still seals\n%s\nNow copy the file to all "
                        "hosts on the database, then: switchboard key use %u",
                        round.id, call->config.secret_key_file, round.newest, seen, round.id);
}

/* --- key use --- */

static bool use(struct key_round *round) {
    if (!keyring_use(&round->ring, round->id))
        return fail_id(round);
    return key_hosts_have(round->call, keyring_newest(&round->ring));
}

int key_use(struct invocation *call) {
    struct key_round round = {.call = call,
                              .id = id_of(call),
                              .reseals = true,
                              .prepare = use,
                              .finish = key_round_finish};
    size_t changed;
    int status = key_round_run(&round, &changed);
    if (status != EXIT_DONE)
        return status;
    struct json_writer json = object_start(call);
    json_write_integer(&json, "id", round.id);
    json_write_integer(&json, "resealed", (int64_t)changed);
    const char *seen = key_hosts_seen(call, &json);
    return object_print(call, &json,
                        "key %u seals on this host; values resealed: %zu\n%s\nNow copy %s to all "
                        "hosts on the database, then drop the old keys: switchboard key drop ID",
                        round.id, changed, seen, call->config.secret_key_file);
}

/* --- key drop --- */

static bool check_drop(struct key_round *round) {
    const struct keyring_key *newest = keyring_newest(&round->ring);
    if (!keyring_find(&round->ring, round->id))
        return fail_id(round);
    if (newest->id == round->id) {
        fail("key %u seals: `switchboard key use ID` makes another key seal first", round->id);
        return false;
    }
    return key_hosts_seal(round->call, newest);
}

/* The key goes only after a round that found no value that it sealed (see cmd_key.c). */
static bool drop_when_unused(struct key_round *round, size_t changed) {
    if (changed || round->is_written)
        return true;
    keyring_drop(&round->ring, round->id);
    return key_round_write(round);
}

int key_drop(struct invocation *call) {
    struct key_round round = {.call = call,
                              .id = id_of(call),
                              .reseals = true,
                              .prepare = check_drop,
                              .finish = drop_when_unused};
    size_t resealed = 0, changed = 0;
    int status = EXIT_DONE;
    for (int i = 0; i < ROUNDS && status == EXIT_DONE && !round.is_written; i++) {
        status = key_round_run(&round, &changed);
        resealed += changed;
    }
    if (status != EXIT_DONE)
        return status;
    if (!round.is_written)
        return fail("values are sealed with key %u again and again: copy %s to all hosts, and run "
                    "the command again",
                    round.id, call->config.secret_key_file);
    struct json_writer json = object_start(call);
    json_write_integer(&json, "id", round.id);
    json_write_integer(&json, "resealed", (int64_t)resealed);
    const char *seen = key_hosts_seen(call, &json);
    return object_print(call, &json,
                        "key %u was removed from %s; values resealed: %zu\n%s\nThe other hosts do "
                        "not need it any more either: copy the file to them",
                        round.id, call->config.secret_key_file, resealed, seen);
}
