#include "key_round.h"

#include <errno.h>

#include "base/crypto.h"
#include "base/seal.h"
#include "store/sealed.h"

int key_ring_read(struct invocation *call, struct keyring *ring) {
    const char *error;
    int failed = keyring_read(call->config.secret_key_file, &call->arena, ring, &error);
    return failed ? fail("%s", error) : EXIT_DONE;
}

/* A call of the store may repeat its transaction: a file that was written is not changed again. */
static bool begin(void *context) {
    struct key_round *round = context;
    bool is_ready = key_ring_read(round->call, &round->ring) == EXIT_DONE;
    if (is_ready && !round->is_written && round->prepare)
        is_ready = round->prepare(round);
    round->has_failed = !is_ready;
    round->newest = is_ready ? keyring_newest(&round->ring)->id : 0;
    return is_ready;
}

static struct slice reseal(void *context, const struct store_sealed *value) {
    struct key_round *round = context;
    struct arena *arena = &round->call->arena;
    if (!round->reseals || (value->value.n && (uint8_t)value->value.p[0] == round->newest))
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

bool key_round_write(struct key_round *round) {
    const char *path = round->call->config.secret_key_file;
    round->is_written = keyring_replace(path, &round->ring) == 0;
    if (round->is_written)
        return true;
    fail("cannot replace the key file %s: %s", path, strerror(errno));
    round->has_failed = true;
    return false;
}

bool key_round_finish(struct key_round *round, size_t changed) {
    (void)changed;
    return round->is_written || key_round_write(round);
}

static bool end(void *context, size_t changed) {
    struct key_round *round = context;
    return round->finish(round, changed);
}

int key_round_run(struct key_round *round, size_t *changed) {
    struct invocation *call = round->call;
    enum store_result result = store_reseal(
        call->store, &call->arena, &(struct store_resealing){round, begin, reseal, end}, changed);
    crypto_wipe(&round->ring.keys, sizeof round->ring.keys);
    if (round->has_failed)
        return EXIT_FAILED;
    return result == STORE_OK ? EXIT_DONE : fail_store(call, result);
}
