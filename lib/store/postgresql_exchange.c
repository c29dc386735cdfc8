/* What is sent to the server, and the wait for its answers. */
#include "store/postgresql_connection.h"

#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum {
    ANSWER_MS = 30 * 1000, /* a server that answers nothing for longer is lost */
    TLS_WAIT_MS = 5,       /* the TLS library may have read the rest of the answer */
};

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

/* Reads the next result, which arrives until `c->answer_by`; NULL: there is none. */
static PGresult *receive(struct connection *c) {
    struct pollfd socket = {.fd = PQsocket(c->db), .events = POLLIN};
    const int64_t longest = PQsslInUse(c->db) ? TLS_WAIT_MS : INT_MAX;
    while (postgresql_is_usable(c) && PQisBusy(c->db)) {
        const int64_t left = c->answer_by - clock_monotonic();
        if (left <= 0)
            c->is_broken = true;
        else if (poll(&socket, 1, (int)(left < longest ? left : longest)) >= 0)
            PQconsumeInput(c->db);
    }
    return c->is_broken ? NULL : PQgetResult(c->db);
}

static void expect_answer(struct connection *c) {
    c->answer_by = clock_monotonic() + ANSWER_MS + c->lock_timeout_ms;
}

/* Sends the pending commands and the statement in one message, so that they take one round trip.
 * Returns how many results follow; 0 on failure. */
static int send_all(struct connection *c, struct prepared *p, const struct arguments *a) {
    int sent = 0;
    bool ok = PQenterPipelineMode(c->db) == 1;
    for (size_t i = 0; ok && i < c->pending_count; i++, sent++)
        ok = PQsendQueryParams(c->db, c->pending[i], 0, NULL, NULL, NULL, NULL, 0) == 1;
    postgresql_forget_pending(c);
    c->is_sent = true;
    if (ok && !c->is_pooled && !*p->name) {
        snprintf(p->name, sizeof p->name, "s%u", ++c->named);
        ok = PQsendPrepare(c->db, p->name, p->text, a->count, a->types) == 1;
        sent++;
    }
    if (ok)
        ok = (*p->name ? PQsendQueryPrepared(c->db, p->name, a->count, a->values, a->lengths,
                                             a->formats, 1)
                       : PQsendQueryParams(c->db, p->text, a->count, a->types, a->values,
                                           a->lengths, a->formats, 1)) == 1;
    return ok && PQpipelineSync(c->db) == 1 ? sent + 1 : 0;
}

/* Reads the results of the commands, then that of the synchronization; the last one is kept. */
static PGresult *receive_all(struct connection *c, int count) {
    PGresult *last = NULL;
    expect_answer(c);
    for (int i = 0; i < count; i++) {
        PQclear(last);
        last = receive(c);
        postgresql_latch(c, last);
        if (last)
            PQclear(receive(c)); /* NULL: the end of this command's results */
    }
    PQclear(receive(c));
    if (!PQexitPipelineMode(c->db))
        c->is_broken = true;
    return last;
}

/* Sends the pending commands and the statement, and reads the results. */
void postgresql_exchange(struct connection *c, struct prepared *p,
                         const struct arguments *arguments) {
    const bool was_named = *p->name;
    const int expected = postgresql_is_usable(c) ? send_all(c, p, arguments) : 0;
    if (!expected) {
        postgresql_latch(c, NULL);
        c->is_broken = true; /* some commands may be sent */
        return;
    }
    p->rows = receive_all(c, expected);
    p->row = -1;
    if (c->store.failure && !was_named)
        *p->name = '\0'; /* the failure may have been that of an earlier command */
}

/* Runs COMMIT or ROLLBACK; NULL without an answer. */
PGresult *postgresql_finish(struct connection *c, const char *command) {
    expect_answer(c);
    PGresult *result = PQsendQuery(c->db, command) ? receive(c) : NULL;
    if (result)
        PQclear(receive(c));
    return result;
}
