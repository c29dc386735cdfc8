/* What the failure of a command or of a connection means, and the end of the time. */
#include "engine/postgresql_connection.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define CANCELLED "57014"

/* What an SQLSTATE (PostgreSQL, Appendix A) means to the caller, and to a repetition. */
struct meaning {
    enum store_result result;
    enum fault fault;
};

/* Returns the meaning of `state`; NULL: the connection failed. The first prefix counts. */
static struct meaning meaning_of(const char *state) {
    static const struct {
        const char *prefix;
        struct meaning meaning;
    } classes[] = {
        {"23", {STORE_CONFLICT, FAULT_OTHER}}, /* integrity constraint violation */
        {"40P01", {STORE_BUSY, FAULT_DEADLOCK}},
        {"40001", {STORE_BUSY, FAULT_SERIALIZATION}},
        {"40", {STORE_BUSY, FAULT_OTHER}},                /* transaction rollback */
        {"55P03", {STORE_BUSY, FAULT_OTHER}},             /* lock_timeout */
        {CANCELLED, {STORE_BUSY, FAULT_OTHER}},           /* statement_timeout */
        {"53100", {STORE_FULL, FAULT_OTHER}},             /* disk full */
        {"53300", {STORE_UNAVAILABLE, FAULT_OTHER}},      /* too many connections */
        {"08", {STORE_UNAVAILABLE, FAULT_CONNECTION}},    /* also of a pooler */
        {"57P", {STORE_UNAVAILABLE, FAULT_CONNECTION}},   /* shut down, or starting up */
        {"25006", {STORE_UNAVAILABLE, FAULT_CONNECTION}}, /* a standby: another is the primary */
        {"28", {STORE_UNAVAILABLE, FAULT_OTHER}},         /* authentication */
        {"3D", {STORE_UNAVAILABLE, FAULT_OTHER}},         /* no such database */
        {UNDEFINED_TABLE, {STORE_UNAVAILABLE, FAULT_OTHER}},
        {"42501", {STORE_UNAVAILABLE, FAULT_OTHER}}, /* insufficient privilege */
        {"XX001", {STORE_CORRUPT, FAULT_OTHER}},
        {"XX002", {STORE_CORRUPT, FAULT_OTHER}},
    };
    if (!state)
        return (struct meaning){STORE_UNAVAILABLE, FAULT_CONNECTION};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(state, classes[i].prefix, strlen(classes[i].prefix)) == 0)
            return classes[i].meaning;
    return (struct meaning){STORE_UNKNOWN, FAULT_OTHER};
}

void postgresql_set_fault(struct connection *c, enum fault fault) {
    c->fault = fault;
    c->store.is_unreachable = fault == FAULT_CONNECTION;
}

/* A transaction that does not end in time has too much work if it has done a tenth of the most, or
 * if one wait for the server took half of the time. If not, the server is busy. */
static enum store_result judge_delay(const struct connection *c) {
    const bool is_much = c->limit.most_work && c->limit.work >= c->limit.most_work / 10;
    const bool is_long = clock_monotonic() - c->asked >= c->limit.ms / 2;
    return c->limit.most_work && (is_much || is_long) ? STORE_EXCESSIVE : STORE_BUSY;
}

bool postgresql_is_late(const struct connection *c) {
    return c->limit.end && clock_monotonic() >= c->limit.end;
}

/* Latches the failure of a command; `result` may be NULL. An aborted command of a pipeline follows
 * one that failed. */
void postgresql_latch(struct connection *c, const PGresult *result) {
    ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;
    if (c->store.failure || status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK ||
        status == PGRES_PIPELINE_SYNC || status == PGRES_PIPELINE_ABORTED)
        return;
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (!text)
        text = c->is_hanging  ? "the server did not answer a commit"
               : c->is_broken ? "the server does not answer"
                              : PQerrorMessage(c->db);
    const struct meaning meaning = meaning_of(state);
    const bool is_late = state && strcmp(state, CANCELLED) == 0 && postgresql_is_late(c);
    postgresql_set_fault(c, meaning.fault);
    c->store.failure =
        sql_refuse(&c->store, is_late ? judge_delay(c) : meaning.result, "%.*s (PostgreSQL %s)",
                   (int)strcspn(text, "\n"), text, state ? state : "connection");
}

/* Latches a failure that is not the server's. */
void postgresql_latch_reason(struct connection *c, const char *reason) {
    if (c->store.failure)
        return;
    postgresql_set_fault(c, FAULT_OTHER);
    c->store.failure = sql_refuse(&c->store, STORE_UNKNOWN, "%s", reason);
}

void postgresql_latch_memory(struct connection *c) {
    postgresql_latch_reason(c, "out of memory");
}

void postgresql_latch_delay(struct connection *c) {
    if (c->store.failure)
        return;
    postgresql_set_fault(c, FAULT_OTHER);
    c->store.failure =
        sql_refuse(&c->store, judge_delay(c), "the transaction did not end within %lld ms",
                   (long long)c->limit.ms);
}

bool postgresql_is_refused_by_standby(const char *message) {
    return strstr(message, "session is read-only") || strstr(message, "hot standby mode");
}

/* Adds what to do if a server that was reached is a standby: the URL names only it, or no host of
 * the URL is a primary now, as during a failover. */
static const char *advice_for(struct connection *c, const char *message, char *text, size_t size) {
    char hosts[200];
    *text = '\0';
    if (!postgresql_is_refused_by_standby(message))
        return text;
    hosts_write(&c->hosts, hosts, sizeof hosts);
    snprintf(text, size,
             strchr(hosts, ',')
                 ? "; the URL names the hosts %s, and none of them is a primary now: a standby "
                   "becomes one in a failover; if none does, promote one or start the primary"
                 : "; the URL names only %s, which is a standby: name the host of the primary too",
             hosts);
    return text;
}

/* The message has a line for each host. */
enum store_result postgresql_refuse_connection(struct connection *c) {
    const char *text = PQerrorMessage(c->db);
    char lines[550], advice[400];
    size_t n = 0;
    postgresql_set_fault(c, FAULT_CONNECTION);
    for (; *text && n < sizeof lines - 2; text++)
        if (*text != '\n')
            lines[n++] = *text == '\t' ? ' ' : *text;
        else if (text[1])
            lines[n++] = ';', lines[n++] = ' ';
    lines[n] = '\0';
    return sql_refuse(&c->store, STORE_UNAVAILABLE, "%s%s", lines,
                      advice_for(c, PQerrorMessage(c->db), advice, sizeof advice));
}
