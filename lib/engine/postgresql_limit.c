/* The limits of a transaction's work and time. */
#include "engine/postgresql_connection.h"

#include "base/clock.h"
#include "engine/postgresql_driver.h"

/* Units of store_limit_work. */
enum {
    WORK_OF_STATEMENT = 100, /* about that of SQLite for the same */
    WORK_OF_ROW = 400,       /* each but the first that a statement changes: each of its indexes
                                gets an entry more, and keeps the former ones */
};

enum {
    RENEWAL_MS = 1000,      /* how old the server's limit of time may become */
    LEAST_TIMEOUT_MS = 500, /* of a statement that begins just in time */
};

void postgresql_limit_work(struct store *store, int64_t most) {
    connection_of(store)->limit.most_work = most;
}

void postgresql_limit_time(struct store *store, int64_t ms) {
    struct connection *c = connection_of(store);
    c->limit.ms = ms;
    c->limit.end = ms ? clock_monotonic() + ms : 0;
}

void postgresql_start_limits(struct connection *c) {
    c->limit.work = 0;
    c->limit.renewal = 0;
}

void postgresql_count_statement(struct connection *c) {
    c->limit.work += WORK_OF_STATEMENT;
}

void postgresql_count_rows(struct connection *c, int64_t rows) {
    if (rows > 1)
        c->limit.work += (rows - 1) * WORK_OF_ROW;
}

/* A transaction that does not end in time has too much work if it has done a tenth of the most, or
 * if one wait for the server took half of the time. If not, the server is busy. */
enum store_result postgresql_judge_delay(const struct connection *c) {
    const bool is_much = c->limit.most_work && c->limit.work >= c->limit.most_work / 10;
    const bool is_long = clock_monotonic() - c->asked >= c->limit.ms / 2;
    return c->limit.most_work && (is_much || is_long) ? STORE_EXCESSIVE : STORE_BUSY;
}

bool postgresql_is_late(const struct connection *c) {
    return c->limit.end && clock_monotonic() >= c->limit.end;
}

static void latch_delay(struct connection *c) {
    if (c->store.failure)
        return;
    postgresql_set_fault(c, FAULT_OTHER);
    c->store.failure =
        sql_refuse(&c->store, postgresql_judge_delay(c),
                   "the transaction did not end within %lld ms", (long long)c->limit.ms);
}

/* The server's limit counts for each statement: it gets shorter with the time that is left. */
void postgresql_renew_timeout(struct connection *c) {
    const int64_t now = c->limit.end ? clock_monotonic() : 0, left = c->limit.end - now;
    if (!c->limit.end || now < c->limit.renewal)
        return;
    c->limit.renewal = now + RENEWAL_MS;
    if (left <= 0)
        latch_delay(c);
    else
        postgresql_add_pending(c, "SET LOCAL statement_timeout = %lld",
                               (long long)(left > LEAST_TIMEOUT_MS ? left : LEAST_TIMEOUT_MS));
}

bool postgresql_is_within_limit(struct store *store, int64_t own) {
    struct connection *c = connection_of(store);
    c->limit.work += own;
    if (postgresql_is_late(c))
        latch_delay(c);
    else if (c->limit.most_work && c->limit.work > c->limit.most_work && !store->failure)
        store->failure = sql_refuse(store, STORE_EXCESSIVE, "the transaction has too much work");
    return !store->failure;
}
