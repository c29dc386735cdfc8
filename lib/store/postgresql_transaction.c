#include "store/postgresql_connection.h"

#include <string.h>

#include "base/clock.h"
#include "store/postgresql_driver.h"

bool postgresql_begin(struct store *store) {
    struct connection *c = connection_of(store);
    if (store->failure)
        return false;
    const int64_t now = clock_monotonic();
    if (!store->repeat.count)
        c->until = now + c->lock_timeout_ms;
    c->work = 0;
    c->is_open = true;
    c->is_sent = false;
    postgresql_add_pending(c, "BEGIN");
    postgresql_add_pending(c, "SET LOCAL lock_timeout = %lld", /* 0 would be no limit */
                           (long long)(c->until > now ? c->until - now : 1));
    return !store->failure;
}

/* The server's answer to COMMIT of a transaction that has failed is ROLLBACK. */
void postgresql_commit(struct store *store) {
    struct connection *c = connection_of(store);
    postgresql_forget_pending(c);
    if (!c->is_open)
        return;
    c->is_open = false;
    if (!c->is_sent)
        return;
    if (store->failure) {
        if (postgresql_is_usable(c))
            PQclear(postgresql_finish(c, "ROLLBACK"));
        return;
    }
    PGresult *result = postgresql_finish(c, "COMMIT");
    postgresql_latch(c, result);
    if (!store->failure && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        postgresql_latch_reason(c, "the server rolled the commit back");
    else if (store->failure && c->fault == FAULT_CONNECTION)
        store->repeat.may_have_committed = true;
    PQclear(result);
}

void postgresql_limit_work(struct store *store, int64_t most) {
    connection_of(store)->most_work = most;
}

bool postgresql_is_within_limit(struct store *store) {
    struct connection *c = connection_of(store);
    if (!c->most_work || c->work <= c->most_work)
        return true;
    if (!store->failure)
        store->failure = sql_refuse(store, STORE_EXCESSIVE, "the transaction has too much work");
    return false;
}
