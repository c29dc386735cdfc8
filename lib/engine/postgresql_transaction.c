#include "engine/postgresql_connection.h"

#include <string.h>

#include "base/clock.h"
#include "engine/postgresql_driver.h"

bool postgresql_begin(struct store *store) {
    struct connection *c = connection_of(store);
    if (store->failure)
        return false;
    const int64_t now = clock_monotonic();
    if (!store->repeat.count)
        c->until = now + c->lock_timeout_ms;
    c->is_open = true;
    c->is_sent = false;
    postgresql_add_pending(c, "BEGIN");
    postgresql_add_pending(c, "SET LOCAL lock_timeout = %lld", /* 0 would be no limit */
                           (long long)(c->until > now ? c->until - now : 1));
    postgresql_start_limits(c);
    postgresql_renew_timeout(c);
    return !store->failure;
}

static void roll_back(struct connection *c) {
    postgresql_receive(c);
    if (postgresql_is_usable(c))
        PQclear(postgresql_finish(c, "ROLLBACK"));
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
        roll_back(c);
        return;
    }
    PGresult *result = postgresql_finish(c, "COMMIT");
    postgresql_latch(c, result);
    if (!store->failure && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        postgresql_latch_reason(c, "the server rolled the commit back");
    else if (store->failure && c->fault == FAULT_CONNECTION)
        store->repeat.may_have_committed = true;
    else if (store->failure) /* of a statement before the COMMIT, which was not run */
        roll_back(c);
    PQclear(result);
}
