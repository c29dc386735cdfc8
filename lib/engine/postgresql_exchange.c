/* What is sent to the server, the wait for its answers, and the limits of both. */
#include "engine/postgresql_connection.h"

#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

enum {
    ANSWER_MS = 30 * 1000, /* a server that answers nothing for longer is lost; */
    LATE_MS = 5 * 1000,    /* with a limit of time, so long after its end */
    COMMIT_MS = 10 * 1000, /* a COMMIT, which waits for the disk and the standby alone */
    MOST_AWAITED = 256,
    TLS_WAIT_MS = 5, /* the TLS library may have read the rest of the answer */
};

/* Units of store_limit_work, of each row but the first that a statement changes: each of its
 * indexes gets an entry more, and keeps the former ones. */
enum { WORK_OF_ROW = 400 };

enum {
    RENEWAL_MS = 1000,      /* how old the server's limit of time may become */
    LEAST_TIMEOUT_MS = 500, /* of a statement that begins just in time */
};

bool postgresql_is_usable(const struct connection *c) {
    return !c->is_broken && PQstatus(c->db) == CONNECTION_OK;
}

void postgresql_add_pending(struct connection *c, const char *format, ...) {
    char *text = NULL;
    va_list args;
    if (c->pending_count == c->pending_room) { /* a payload may lock the names of many accounts */
        const size_t room = 2 * c->pending_room + 8;
        char **larger = realloc(c->pending, room * sizeof *larger);
        if (!larger) {
            postgresql_latch_memory(c);
            return;
        }
        c->pending = larger;
        c->pending_room = room;
    }
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        postgresql_latch_memory(c);
    else
        c->pending[c->pending_count++] = text;
}

void postgresql_forget_pending(struct connection *c) {
    while (c->pending_count)
        free(c->pending[--c->pending_count]);
}

/* --- limits --- */

void postgresql_limit_work(struct store *store, int64_t most) {
    connection_of(store)->limit.most_work = most;
}

void postgresql_limit_time(struct store *store, int64_t ms) {
    struct connection *c = connection_of(store);
    c->limit.ms = ms;
    c->limit.end = ms ? clock_monotonic() + ms : 0;
}

/* The server's limit counts for each statement: it gets shorter with the time that is left. */
void postgresql_renew_timeout(struct connection *c) {
    const int64_t now = c->limit.end ? clock_monotonic() : 0, left = c->limit.end - now;
    if (!c->limit.end || now < c->limit.renewal)
        return;
    c->limit.renewal = now + RENEWAL_MS;
    if (left <= 0)
        postgresql_latch_delay(c);
    else
        postgresql_add_pending(c, "SET LOCAL statement_timeout = %lld",
                               (long long)(left > LEAST_TIMEOUT_MS ? left : LEAST_TIMEOUT_MS));
}

bool postgresql_is_within_limit(struct store *store, int64_t own) {
    struct connection *c = connection_of(store);
    c->limit.work += own;
    if (postgresql_is_late(c))
        postgresql_latch_delay(c);
    else if (c->limit.most_work && c->limit.work > c->limit.most_work && !store->failure)
        store->failure = sql_refuse(store, STORE_EXCESSIVE, "the transaction has too much work");
    return !store->failure;
}

/* --- commands and answers --- */

/* The server does not answer. Without the end of the session it would keep its locks until this
 * process uses the connection again, if it answers later. */
static void give_up(struct connection *c) {
    c->is_broken = true;
    c->is_hanging = c->is_committing;
    shutdown(PQsocket(c->db), SHUT_RDWR);
}

/* Reads the next result, which arrives until `c->answer_by`; NULL: there is none. */
static PGresult *receive(struct connection *c) {
    struct pollfd socket = {.fd = PQsocket(c->db), .events = POLLIN};
    const int64_t longest = PQsslInUse(c->db) ? TLS_WAIT_MS : INT_MAX;
    while (postgresql_is_usable(c) && PQisBusy(c->db)) {
        const int64_t left = c->answer_by - clock_monotonic();
        if (left <= 0)
            give_up(c);
        else if (poll(&socket, 1, (int)(left < longest ? left : longest)) >= 0)
            PQconsumeInput(c->db);
    }
    return c->is_broken ? NULL : PQgetResult(c->db);
}

static void expect_answer(struct connection *c) {
    c->is_committing = false;
    c->asked = clock_monotonic();
    if (!c->limit.end)
        c->answer_by = c->asked + ANSWER_MS + c->lock_timeout_ms;
    else
        c->answer_by = LATE_MS + (c->limit.end > c->asked ? c->limit.end : c->asked);
}

/* The server has answered all that came before the COMMIT. */
static void expect_commit(struct connection *c) {
    const int64_t latest = clock_monotonic() + COMMIT_MS;
    c->is_committing = true;
    if (c->answer_by > latest)
        c->answer_by = latest;
}

/* Expects one more result. */
static bool await(struct connection *c, const struct awaited *next) {
    if (c->awaited_count == c->awaited_room) {
        const size_t room = 2 * c->awaited_room + 8;
        struct awaited *larger = realloc(c->awaited, room * sizeof *larger);
        if (!larger)
            return false;
        c->awaited = larger;
        c->awaited_room = room;
    }
    c->awaited[c->awaited_count++] = *next;
    return true;
}

static bool send_command(struct connection *c, const char *command) {
    return PQsendQueryParams(c->db, command, 0, NULL, NULL, NULL, NULL, 0) == 1 &&
           await(c, &(struct awaited){COMMAND, NULL});
}

static bool send_pending(struct connection *c) {
    bool ok = PQpipelineStatus(c->db) == PQ_PIPELINE_ON || PQenterPipelineMode(c->db) == 1;
    for (size_t i = 0; ok && i < c->pending_count; i++)
        ok = send_command(c, c->pending[i]);
    postgresql_forget_pending(c);
    c->is_sent = true;
    return ok;
}

static bool send_preparation(struct connection *c, struct prepared *p, const struct arguments *a) {
    if (c->is_pooled || *p->name)
        return true;
    snprintf(p->name, sizeof p->name, "s%u", ++c->named);
    return PQsendPrepare(c->db, p->name, p->text, a->count, a->types) == 1 &&
           await(c, &(struct awaited){PREPARATION, p});
}

static bool send_execution(struct connection *c, struct prepared *p, const struct arguments *a) {
    const int is_sent = *p->name ? PQsendQueryPrepared(c->db, p->name, a->count, a->values,
                                                       a->lengths, a->formats, 1)
                                 : PQsendQueryParams(c->db, p->text, a->count, a->types, a->values,
                                                     a->lengths, a->formats, 1);
    p->is_awaited = is_sent == 1 && await(c, &(struct awaited){EXECUTION, p});
    return p->is_awaited;
}

void postgresql_send(struct connection *c, struct prepared *p, const struct arguments *arguments) {
    if (c->awaited_count >= MOST_AWAITED)
        postgresql_receive(c);
    if (c->is_open)
        postgresql_renew_timeout(c);
    if (c->store.failure)
        return;
    if (postgresql_is_usable(c) && send_pending(c) && send_preparation(c, p, arguments) &&
        send_execution(c, p, arguments))
        return;
    postgresql_latch(c, NULL);
    c->is_broken = true; /* some commands may be sent */
}

/* Gives the result of a command to its owner. A failure may be that of an earlier command. */
static void settle(struct connection *c, const struct awaited *sent, PGresult *result) {
    struct prepared *p = sent->p;
    postgresql_latch(c, result);
    if (PQresultStatus(result) == PGRES_COMMAND_OK) { /* it reads no rows */
        c->limit.work += c->changes > 1 ? (int64_t)(c->changes - 1) * WORK_OF_ROW : 0;
        c->total_changes += c->changes;
    }
    if (sent->kind == PREPARATION && PQresultStatus(result) != PGRES_COMMAND_OK)
        *p->name = '\0';
    if (!p || sent->kind == PREPARATION) {
        PQclear(result);
        return;
    }
    p->is_awaited = false;
    p->rows = result;
    p->row = -1;
}

/* Reads the results of what was sent, then that of the synchronization. */
static void receive_all(struct connection *c) {
    if (PQpipelineSync(c->db) != 1)
        c->is_broken = true;
    expect_answer(c);
    for (size_t i = 0; i < c->awaited_count; i++) {
        if (c->awaited[i].kind == COMMITMENT)
            expect_commit(c);
        PGresult *result = receive(c);
        c->changes = result ? (int)strtol(PQcmdTuples(result), NULL, 10) : 0;
        settle(c, &c->awaited[i], result);
        if (result)
            PQclear(receive(c)); /* NULL: the end of this command's results */
    }
    PQclear(receive(c));
    if (!PQexitPipelineMode(c->db))
        c->is_broken = true;
}

void postgresql_forget_awaited(struct connection *c) {
    for (size_t i = 0; i < c->awaited_count; i++)
        if (c->awaited[i].kind == PREPARATION)
            *c->awaited[i].p->name = '\0';
        else if (c->awaited[i].p)
            c->awaited[i].p->is_awaited = false;
    c->awaited_count = 0;
}

void postgresql_receive(struct connection *c) {
    if (!c->awaited_count)
        return;
    receive_all(c);
    c->awaited_count = 0;
}

PGresult *postgresql_finish(struct connection *c, const char *command) {
    struct prepared last = {.rows = NULL};
    const bool is_commit = strcmp(command, "COMMIT") == 0;
    if (!c->awaited_count) { /* one command: it needs no synchronization */
        expect_answer(c);
        if (is_commit)
            expect_commit(c);
        last.rows = PQsendQuery(c->db, command) ? receive(c) : NULL;
        if (last.rows)
            PQclear(receive(c));
        return last.rows;
    }
    /* the server answers the others before it begins with the COMMIT */
    if ((!is_commit || PQsendFlushRequest(c->db) == 1) &&
        PQsendQueryParams(c->db, command, 0, NULL, NULL, NULL, NULL, 0) == 1 &&
        await(c, &(struct awaited){is_commit ? COMMITMENT : EXECUTION, &last}))
        postgresql_receive(c);
    else
        c->is_broken = true;
    postgresql_forget_awaited(c);
    return last.rows;
}
