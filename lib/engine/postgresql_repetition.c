/* What is done again after a failure: transactions and reads. */
#include "engine/postgresql_connection.h"

#include <time.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/crypto.h"
#include "base/log.h"

enum {
    MOST_REPEATS = 5,    /* of a transaction */
    FIRST_PAUSE_MS = 20, /* before a repetition, and between two connections; then doubled */
    LONGEST_PAUSE_MS = 500,
};

static void pause_ms(int64_t ms) {
    const struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000 * 1000};
    nanosleep(&pause, NULL);
}

/* A random part of the pause before the repetition `count`, so that two processes that disturbed
 * each other do not do so again. */
static int64_t pause_before(int count) {
    const int64_t longest = count < 5 ? FIRST_PAUSE_MS << count : LONGEST_PAUSE_MS;
    uint16_t random;
    crypto_random(&random, sizeof random);
    return 1 + random % longest;
}

/* Connects again, several times until `until`. */
static bool reconnect(struct connection *c, int64_t until) {
    for (int count = 0; !postgresql_connect_again(c); count++) {
        const int64_t pause = pause_before(count);
        if (c->fault != FAULT_CONNECTION || clock_monotonic() + pause >= until)
            return false;
        pause_ms(pause);
    }
    return true;
}

/* Logs and counts that `what` is repeated, and why. */
static void log_repeat(const struct connection *c, const char *what) {
    static const char *const faults[] = {[FAULT_DEADLOCK] = "deadlock",
                                         [FAULT_SERIALIZATION] = "serialization",
                                         [FAULT_CONNECTION] = "connection"};
    log_message(LOG_WARN, "database: %s is repeated: %s", what, c->store.reason);
    counters_add(COUNTERS_REPEATS, faults[c->fault], 1);
}

bool postgresql_repeat(struct store *store) {
    struct connection *c = connection_of(store);
    const bool is_lost = c->fault == FAULT_CONNECTION;
    if (c->fault == FAULT_OTHER || store->repeat.count == MOST_REPEATS ||
        clock_monotonic() >= c->until || (is_lost && !c->may_connect))
        return false;
    log_repeat(c, "a transaction");
    if (is_lost && !reconnect(c, c->until))
        return false;
    if (!is_lost)
        pause_ms(pause_before(store->repeat.count));
    store->failure = STORE_OK;
    store->repeat.count++;
    return true;
}

/* Outside of a transaction a statement reads: it is repeated after a lost connection. */
bool postgresql_is_read_again(struct connection *c) {
    if (!c->store.failure || c->fault != FAULT_CONNECTION || c->is_open || !c->may_connect)
        return false;
    log_repeat(c, "a read");
    return reconnect(c, clock_monotonic() + c->lock_timeout_ms);
}
