/* The PostgreSQL driver: its table, statements with their rows, and transactions. */
#include "engine/postgresql_connection.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Units of store_limit_work, about that of SQLite for the same. */
enum { WORK_OF_STATEMENT = 100 };

/* --- the connection --- */

enum store_result postgresql_connect(const char *target, bool for_reading, struct store **store) {
    return postgresql_make(&postgresql_driver, target, for_reading, store);
}

static enum store_result open_store(const char *target, bool for_reading, struct store **store) {
    enum store_result result = postgresql_connect(target, for_reading, store);
    return result == STORE_OK ? postgresql_begin_session(*store) : result;
}

static void close_store(struct store *store) {
    struct connection *c = connection_of(store);
    postgresql_forget_pending(c);
    free(c->pending);
    free(c->awaited);
    PQfinish(c->db);
    free(c->target);
    free(c->url);
    free(c);
}

static int forbid_reconnecting(struct store *store) {
    connection_of(store)->may_connect = false;
    return PQsocket(connection_of(store)->db);
}

static enum store_result set_lock_timeout(struct store *store, int ms) {
    connection_of(store)->lock_timeout_ms = ms;
    return STORE_OK;
}

/* --- statements --- */

/* The statement's text with the server's markers. The statements have no `?` with a digit in a
 * literal. */
static char *server_text(const struct statement *statement) {
    char *text =
        statement->takes_lock ? postgresql_with_lock(statement->sql) : strdup(statement->sql);
    for (char *p = text; p && *p; p++)
        if (*p == '?' && p[1] >= '1' && p[1] <= '9')
            *p = '$';
    return text;
}

static bool prepare(struct store *store, struct statement *statement) {
    struct prepared *p = calloc(1, sizeof *p);
    if (p)
        p->text = server_text(statement);
    if (!p || !p->text) {
        free(p);
        postgresql_latch_memory(connection_of(store));
        return false;
    }
    statement->prepared = p;
    return true;
}

static void drop(struct statement *statement) {
    struct prepared *p = statement->prepared;
    PQclear(p->rows);
    free(p->text);
    free(p);
}

static void stop(struct statement *statement) {
    struct prepared *p = statement->prepared;
    if (p->is_awaited)
        postgresql_receive(connection_of(statement->store));
    PQclear(p->rows);
    p->rows = NULL;
}

/* The statement is the last one that was sent. */
static void ignore(struct statement *statement) {
    struct connection *c = connection_of(statement->store);
    struct prepared *p = statement->prepared;
    if (p->is_awaited)
        c->awaited[c->awaited_count - 1].p = NULL;
    p->is_awaited = false;
}

static void start(struct store *store, struct statement *statement,
                  const struct parameter *parameters, size_t count) {
    struct connection *c = connection_of(store);
    struct prepared *p = statement->prepared;
    struct arguments arguments;
    stop(statement);
    const char *problem = postgresql_read_arguments(&arguments, parameters, count);
    if (problem) {
        postgresql_free_arguments(&arguments);
        postgresql_latch_reason(c, problem);
        return;
    }
    postgresql_send(c, p, &arguments);
    if (!c->is_open) {
        postgresql_receive(c);
        if (postgresql_is_read_again(c)) {
            stop(statement);
            postgresql_send(c, p, &arguments);
            postgresql_receive(c);
        }
    }
    postgresql_free_arguments(&arguments);
    c->limit.work += WORK_OF_STATEMENT;
}

static bool row(struct store *store, struct statement *statement) {
    struct prepared *p = statement->prepared;
    if (p->is_awaited)
        postgresql_receive(connection_of(store));
    return !store->failure && p->rows && ++p->row < PQntuples(p->rows);
}

static void wait_for_results(struct store *store) {
    postgresql_receive(connection_of(store));
}

static int changes(const struct store *store) {
    return connection_of(store)->changes;
}

static int64_t total_changes(const struct store *store) {
    return connection_of(store)->total_changes;
}

static bool is_null(const struct statement *statement, int column) {
    const struct prepared *p = statement->prepared;
    return PQgetisnull(p->rows, p->row, column);
}

static struct slice column(const struct statement *statement, int column) {
    const struct prepared *p = statement->prepared;
    if (is_null(statement, column))
        return (struct slice){NULL, 0};
    return (struct slice){PQgetvalue(p->rows, p->row, column),
                          (size_t)PQgetlength(p->rows, p->row, column)};
}

/* An integer of 2, 4 or 8 bytes, or a boolean of one; NULL reads as 0. */
static int64_t integer(const struct statement *statement, int at) {
    struct slice bytes = column(statement, at);
    uint64_t value = bytes.n > 1 && bytes.p[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < bytes.n; i++)
        value = value << 8 | (unsigned char)bytes.p[i];
    return (int64_t)value;
}

/* --- transactions --- */

static bool begin(struct store *store) {
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
    c->limit.work = c->limit.renewal = 0;
    postgresql_renew_timeout(c);
    return !store->failure;
}

static void roll_back(struct connection *c) {
    postgresql_receive(c);
    if (postgresql_is_usable(c))
        PQclear(postgresql_finish(c, "ROLLBACK"));
}

/* The server's answer to COMMIT of a transaction that has failed is ROLLBACK. */
static void commit(struct store *store) {
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

const struct driver postgresql_driver = {
    .open = open_store,
    .close = close_store,
    .is_alive = postgresql_is_alive,
    .set_lock_timeout = set_lock_timeout,
    .tend = postgresql_tend,
    .prepare = prepare,
    .drop = drop,
    .start = start,
    .row = row,
    .stop = stop,
    .ignore = ignore,
    .wait = wait_for_results,
    .changes = changes,
    .total_changes = total_changes,
    .column = column,
    .integer = integer,
    .is_null = is_null,
    .forbid_reconnecting = forbid_reconnecting,
    .begin = begin,
    .commit = commit,
    .repeat = postgresql_repeat,
    .lock = postgresql_lock,
    .lock_space = postgresql_lock_space,
    .try_lock = postgresql_try_lock,
    .limit_work = postgresql_limit_work,
    .limit_time = postgresql_limit_time,
    .is_within_limit = postgresql_is_within_limit,
};
