#include "store/postgresql.h"

#include <endian.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/utf8.h"
#include "store/schema.h"

enum {
    LOCK_TIMEOUT_MS = 5000,
    ANSWER_MS = 30 * 1000, /* a server that answers nothing for longer is lost */
    TLS_WAIT_MS = 5,       /* the TLS library may have read the rest of the answer */
    MOST_REPEATS = 5,      /* of a transaction */
    FIRST_PAUSE_MS = 20,   /* before a repetition, and between two connections; then doubled */
    LONGEST_PAUSE_MS = 500,
    LONGEST_VALUE = 1 << 30, /* bytes of a parameter: the server's limit */
    MOST_PARAMETERS = 32,
    LOCK_BUCKETS = 1024,     /* of one kind and owner: bounds the server's table of locks */
    WORK_OF_STATEMENT = 100, /* units of store_limit_work; about that of SQLite for the same */
    OLDEST_SERVER = 150000,
    TYPE_BYTEA = 17,
    TYPE_BIGINT = 20,
    TYPE_TEXT = 25,
};

#define UNDEFINED_TABLE "42P01"

/* Why a call failed, as far as a repetition can help. */
enum fault {
    FAULT_OTHER,
    FAULT_DEADLOCK,
    FAULT_SERIALIZATION,
    FAULT_CONNECTION, /* it is lost, or the server cannot be used any more */
};

/* A connection to a PostgreSQL server. */
struct connection {
    struct store store;
    PGconn *db;
    char *target;
    bool is_reader;
    bool may_connect; /* again, after the connection was lost */
    bool is_broken;   /* it is open, and cannot be used any more */
    enum fault fault; /* of store.failure */
    int64_t until;    /* monotonic time; a failed transaction is repeated until then */
    bool is_pooled;   /* by transaction: the next one may run on another connection of the server */
    bool is_open;     /* a transaction was begun, on the server or in `pending` */
    bool is_sent;     /* its begin was sent */
    char **pending;   /* BEGIN and locks, sent with the next statement */
    size_t pending_count, pending_room;
    unsigned named; /* statements that the server has prepared */
    int lock_timeout_ms;
    int64_t answer_by; /* monotonic time */
    int changes;
    int64_t work, most_work; /* of the transaction, in units; most_work 0: no limit */
};

/* The prepared form of a statement. */
struct prepared {
    char *text;     /* with $1 in place of ?1 */
    char name[24];  /* on the server; "": not prepared there */
    PGresult *rows; /* the whole result */
    int row;
};

static struct connection *connection_of(const struct store *store) {
    return (struct connection *)(size_t)store;
}

PGconn *postgresql_handle(struct store *store) {
    return connection_of(store)->db;
}

bool postgresql_is_pooled(const struct store *store) {
    return connection_of(store)->is_pooled;
}

/* --- failures --- */

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
        {"57014", {STORE_BUSY, FAULT_OTHER}},             /* statement_timeout */
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

static void set_fault(struct connection *c, enum fault fault) {
    c->fault = fault;
    c->store.is_unreachable = fault == FAULT_CONNECTION;
}

/* Latches the failure of a command; `result` may be NULL. An aborted command of a pipeline follows
 * one that failed. */
static void latch(struct connection *c, const PGresult *result) {
    ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;
    if (c->store.failure || status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK ||
        status == PGRES_PIPELINE_SYNC || status == PGRES_PIPELINE_ABORTED)
        return;
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (!text)
        text = c->is_broken ? "the server does not answer" : PQerrorMessage(c->db);
    const struct meaning meaning = meaning_of(state);
    set_fault(c, meaning.fault);
    c->store.failure = sql_refuse(&c->store, meaning.result, "%.*s (PostgreSQL %s)",
                                  (int)strcspn(text, "\n"), text, state ? state : "connection");
}

/* Latches a failure that is not the server's. */
static void latch_reason(struct connection *c, const char *reason) {
    if (c->store.failure)
        return;
    set_fault(c, FAULT_OTHER);
    c->store.failure = sql_refuse(&c->store, STORE_UNKNOWN, "%s", reason);
}

static void latch_memory(struct connection *c) {
    latch_reason(c, "out of memory");
}

/* --- the connection --- */

/* Removes the parameter pooler=transaction, which libpq does not have; true if it was there. */
static bool take_pooler(char *target) {
    static const char name[] = "pooler=transaction";
    char *found = strstr(target, name), *query = strchr(target, '?');
    const size_t n = sizeof name - 1;
    if (!query || !found || found < query || (found[-1] != '?' && found[-1] != '&') ||
        (found[n] && found[n] != '&'))
        return false;
    if (found[n] == '&')
        memmove(found, found + n + 1, strlen(found + n + 1) + 1);
    else
        found[-1] = '\0';
    return true;
}

/* The user of a setgid program sets its environment, and so would choose libpq's defaults: the
 * server that gets the password, or the certificates that are trusted below HOME. */
static void forget_environment(void) {
    for (char **next = environ; *next;) {
        const size_t n = strcspn(*next, "=");
        char name[64] = "";
        if (n < sizeof name && (strncmp(*next, "PG", 2) == 0 || strncmp(*next, "HOME=", 5) == 0))
            memcpy(name, *next, n);
        if (!*name || unsetenv(name) != 0)
            next++;
    }
}

/* The parameters before dbname are defaults, which the target may replace. */
static PGconn *connect_to(const char *target, bool for_reading) {
    static const struct {
        const char *name, *value;
    } parameters[] = {
        {"connect_timeout", "2"}, /* seconds, for each host */
        {"tcp_user_timeout", "3000"},
        {"keepalives_idle", "3"}, /* a host that vanished while it worked on an answer */
        {"keepalives_interval", "1"},
        {"keepalives_count", "3"},
        {"gssencmode", "disable"}, /* it would look for Kerberos tickets */
        {"application_name", "switchboard"},
        {"target_session_attrs", NULL},
        {"dbname", NULL},
        {"client_encoding", "UTF8"},
    };
    if (getauxval(AT_SECURE))
        forget_environment();
    enum { COUNT = sizeof parameters / sizeof *parameters };
    const char *names[COUNT + 1] = {NULL}, *values[COUNT + 1] = {NULL};
    for (size_t i = 0; i < COUNT; i++) {
        names[i] = parameters[i].name;
        values[i] = parameters[i].value               ? parameters[i].value
                    : strcmp(names[i], "dbname") == 0 ? target
                    : for_reading                     ? "primary"
                                                      : "read-write";
    }
    return PQconnectdbParams(names, values, 1);
}

/* Parses a URL without pooler=transaction. libpq's message about an invalid one is dropped, because
 * it may quote the URL, and so a password. NULL: invalid. */
static PQconninfoOption *parse(const char *url) {
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &message);
    PQfreemem(message);
    return options;
}

static const char *option_of(const PQconninfoOption *options, const char *keyword) {
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0 && options->val)
            return options->val;
    return "";
}

/* Whether no piece of a password whose `/` or `@` is not escaped is host, port or name, which
 * libpq's messages quote. The first @ before a slash ends the password. */
static bool is_clear(const char *url, const char *port) {
    const char *rest = strstr(url, "://");
    rest = rest ? rest + 3 : url;
    const char *at = memchr(rest, '@', strcspn(rest, "/"));
    rest = at ? at + 1 : rest;
    return !memchr(rest, '@', strcspn(rest, "?")) && port[strspn(port, "0123456789,")] == '\0';
}

static bool is_valid(const char *url) {
    PQconninfoOption *options = parse(url);
    const bool is_valid = options && is_clear(url, option_of(options, "port"));
    PQconninfoFree(options);
    return is_valid;
}

/* libpq prints notices to standard error, which is the web server's log. */
static void ignore_notice(void *context, const PGresult *result) {
    (void)context, (void)result;
}

const char *postgresql_user(const char *target, struct arena *arena) {
    char *url = arena_copy(arena, slice_of(target));
    take_pooler(url);
    PQconninfoOption *options = is_valid(url) ? parse(url) : NULL;
    const char *user = arena_copy(arena, slice_of(option_of(options, "user")));
    PQconninfoFree(options);
    return *user ? user : NULL;
}

/* The message has a line for each host. */
static enum store_result refuse_connection(struct connection *c) {
    const char *text = PQerrorMessage(c->db);
    char lines[700];
    size_t n = 0;
    set_fault(c, FAULT_CONNECTION);
    for (; *text && n < sizeof lines - 2; text++)
        if (*text != '\n')
            lines[n++] = *text == '\t' ? ' ' : *text;
        else if (text[1])
            lines[n++] = ';', lines[n++] = ' ';
    lines[n] = '\0';
    return sql_refuse(&c->store, STORE_UNAVAILABLE, "%s%s", lines,
                      strstr(lines, "session is read-only") || strstr(lines, "hot standby mode")
                          ? "; it is a standby: name the host of the primary too"
                          : "");
}

enum store_result postgresql_connect(const char *target, bool for_reading, struct store **out) {
    struct connection *c = calloc(1, sizeof *c);
    char *url = strdup(target);
    *out = c && url ? &c->store : NULL;
    if (!*out) {
        free(c);
        free(url);
        return STORE_UNKNOWN;
    }
    c->store.driver = &postgresql_driver;
    c->lock_timeout_ms = LOCK_TIMEOUT_MS;
    c->is_reader = for_reading;
    c->may_connect = true;
    c->is_pooled = take_pooler(url);
    c->target = strdup(target);
    enum store_result result = STORE_OK;
    if (!is_valid(url))
        result = sql_refuse(&c->store, STORE_UNAVAILABLE,
                            "the URL is not one that libpq reads: postgresql://USER@HOST:PORT/NAME"
                            "?PARAMETER=VALUE, with reserved characters written as %%XX");
    else if (!c->target || !(c->db = connect_to(url, for_reading)))
        result = sql_refuse(&c->store, STORE_UNKNOWN, "out of memory");
    else if (PQstatus(c->db) != CONNECTION_OK)
        result = refuse_connection(c);
    else if (PQserverVersion(c->db) < OLDEST_SERVER)
        result = sql_refuse(&c->store, STORE_UNAVAILABLE,
                            "the server has version %s; this program needs PostgreSQL %d or newer",
                            PQparameterStatus(c->db, "server_version"), OLDEST_SERVER / 10000);
    if (c->db)
        PQsetNoticeReceiver(c->db, ignore_notice, NULL);
    free(url);
    return result;
}

static enum store_result check_version(struct store *store) {
    int64_t version = postgresql_integer(store, "SELECT version FROM schema_version");
    enum store_result result = sql_result(store);
    const bool is_missing =
        result == STORE_OK ? version == -1 : strstr(store->reason, UNDEFINED_TABLE) != NULL;
    if (result != STORE_OK && !is_missing)
        return result; /* the reason is that of the server */
    if (is_missing)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has no schema of this program: run `switchboard init`");
    if (version < 0)
        return sql_refuse(store, STORE_UNAVAILABLE, SCHEMA_CLOSED);
    if (version < SCHEMA_VERSION)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has schema version %d, this program needs %d: run `switchboard init`",
                          (int)version, SCHEMA_VERSION);
    if (version > SCHEMA_VERSION)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has schema version %d, made by a newer program; this one supports %d",
                          (int)version, SCHEMA_VERSION);
    return STORE_OK;
}

/* Sets up the session. A pooled connection is shared: there the role of the target may only read.
 */
static enum store_result start_session(struct connection *c) {
    set_fault(c, FAULT_OTHER);
    postgresql_set_clock(&c->store);
    if (c->is_reader && !c->is_pooled)
        postgresql_script(&c->store, "SET default_transaction_read_only = on");
    enum store_result result = sql_result(&c->store);
    return result == STORE_OK ? check_version(&c->store) : result;
}

static enum store_result open_database(const char *target, bool for_reading, struct store **store) {
    enum store_result result = postgresql_connect(target, for_reading, store);
    return result == STORE_OK ? start_session(connection_of(*store)) : result;
}

static void forget_pending(struct connection *c) {
    while (c->pending_count)
        free(c->pending[--c->pending_count]);
}

static void close_database(struct store *store) {
    struct connection *c = connection_of(store);
    forget_pending(c);
    free(c->pending);
    PQfinish(c->db);
    free(c->target);
    free(c);
}

/* Reads what the server has sent without a command, such as the end of the connection. */
static void read_messages(struct connection *c) {
    struct pollfd socket = {.fd = PQsocket(c->db), .events = POLLIN};
    while (PQstatus(c->db) == CONNECTION_OK && poll(&socket, 1, 0) > 0)
        if (PQconsumeInput(c->db))
            PQisBusy(c->db); /* handles the message */
}

/* Whether a command can be sent. */
static bool is_usable(const struct connection *c) {
    return !c->is_broken && PQstatus(c->db) == CONNECTION_OK;
}

/* An end of the connection that has arrived already is noticed here; a later one by a statement. */
static bool is_alive(struct store *store, const char *target) {
    struct connection *c = connection_of(store);
    if (strcmp(c->target, target) != 0) {
        sql_refuse(store, STORE_UNAVAILABLE, "it is another database now");
        return false;
    }
    if (is_usable(c) && PQtransactionStatus(c->db) == PQTRANS_IDLE)
        postgresql_tend_clock(store);
    if (c->may_connect)
        return true;
    read_messages(c);
    if (is_usable(c) && PQtransactionStatus(c->db) == PQTRANS_IDLE)
        return true;
    set_fault(c, FAULT_CONNECTION);
    sql_refuse(store, STORE_UNAVAILABLE, "the server ended the connection");
    return false;
}

static void forbid_reconnecting(struct store *store) {
    connection_of(store)->may_connect = false;
}

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

/* Connects again. The new session has no prepared statement. False after latching the failure. */
static bool connect_again(struct connection *c) {
    c->store.failure = STORE_OK;
    c->is_broken = c->is_open = false;
    forget_pending(c);
    PQreset(c->db);
    for (struct statement *s = c->store.prepared; s; s = s->next)
        *((struct prepared *)s->prepared)->name = '\0';
    c->store.failure = PQstatus(c->db) == CONNECTION_OK ? start_session(c) : refuse_connection(c);
    return !c->store.failure;
}

/* Connects again, several times until `until`. */
static bool reconnect(struct connection *c, int64_t until) {
    for (int count = 0; !connect_again(c); count++) {
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

static bool repeat(struct store *store) {
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

static enum store_result set_lock_timeout(struct store *store, int ms) {
    connection_of(store)->lock_timeout_ms = ms;
    return STORE_OK;
}

static enum store_result tend(struct store *store, int64_t now) {
    (void)store, (void)now;
    return STORE_OK; /* the server's checkpointer and autovacuum do it */
}

/* --- commands without parameters --- */

static PGresult *run(struct store *store, const char *sql) {
    struct connection *c = connection_of(store);
    PGresult *result = store->failure ? NULL : PQexec(c->db, sql);
    if (!store->failure)
        latch(c, result);
    return result;
}

bool postgresql_script(struct store *store, const char *sql) {
    PQclear(run(store, sql));
    return !store->failure;
}

int64_t postgresql_integer(struct store *store, const char *sql) {
    PGresult *result = run(store, sql);
    int64_t value = -1;
    if (!store->failure && PQntuples(result) && !PQgetisnull(result, 0, 0))
        value = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return value;
}

const char *postgresql_text(struct store *store, struct arena *arena, const char *sql) {
    PGresult *result = run(store, sql);
    const char *value = NULL;
    if (!store->failure && PQntuples(result) && !PQgetisnull(result, 0, 0))
        value = arena_copy(arena, slice_of(PQgetvalue(result, 0, 0)));
    PQclear(result);
    return value;
}

/* --- statements --- */

/* The statement's text with the server's markers. The statements have no `?` with a digit in a
 * literal. */
static char *with_server_markers(const char *sql) {
    char *text = strdup(sql);
    for (char *p = text; p && *p; p++)
        if (*p == '?' && p[1] >= '1' && p[1] <= '9')
            *p = '$';
    return text;
}

static bool prepare(struct store *store, struct statement *statement) {
    struct prepared *p = calloc(1, sizeof *p);
    if (p)
        p->text = with_server_markers(statement->sql);
    if (!p || !p->text) {
        free(p);
        latch_memory(connection_of(store));
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
    PQclear(p->rows);
    p->rows = NULL;
}

/* The parameters of a statement in libpq's form, binary. */
struct arguments {
    int count;
    Oid types[MOST_PARAMETERS];
    const char *values[MOST_PARAMETERS];
    int lengths[MOST_PARAMETERS], formats[MOST_PARAMETERS];
    uint64_t integers[MOST_PARAMETERS];
    char *replaced[MOST_PARAMETERS]; /* texts; NULL: the parameter's own bytes */
};

/* Returns the text with U+FFFD for each byte that is not part of valid UTF-8, and for NUL: the
 * server refuses both. Such bytes come from outside, in reasons of failed transfers for example,
 * and must not make the use-case fail. `*n` is its length; NULL without memory. */
static char *with_valid_utf8(struct slice text, int *n) {
    char *out = malloc(3 * text.n + 1);
    size_t used = 0;
    for (size_t i = 0, length; out && i < text.n; i += length ? length : 1) {
        length = text.p[i] ? utf8_length(text.p + i, text.n - i) : 0;
        memcpy(out + used, length ? text.p + i : "\xef\xbf\xbd", length ? length : 3);
        used += length ? length : 3;
    }
    *n = (int)used;
    return out;
}

/* False without memory. */
static bool replace_invalid(struct arguments *to, int i, struct slice text) {
    to->replaced[i] = NULL;
    if (!text.p || (utf8_valid(text) && !memchr(text.p, '\0', text.n)))
        return true;
    to->replaced[i] = with_valid_utf8(text, &to->lengths[i]);
    to->values[i] = to->replaced[i];
    return to->replaced[i];
}

static void free_arguments(struct arguments *arguments) {
    for (int i = 0; i < arguments->count; i++)
        free(arguments->replaced[i]);
}

/* Returns NULL, or why the parameters cannot be sent. */
static const char *read_arguments(struct arguments *to, const struct parameter *from,
                                  size_t count) {
    bool ok = true;
    to->count = 0;
    if (count > MOST_PARAMETERS)
        return "a statement has too many parameters";
    for (size_t i = 0; i < count; i++)
        if (from[i].bytes.n >= LONGEST_VALUE)
            return "a value is larger than the 1 GB that the server takes";
    to->count = (int)count;
    for (size_t i = 0; i < count; i++) {
        const bool is_bytes = from[i].kind == PARAMETER_TEXT || from[i].kind == PARAMETER_BLOB;
        to->integers[i] = htobe64((uint64_t)from[i].integer);
        to->formats[i] = 1;
        to->types[i] = !is_bytes                        ? TYPE_BIGINT
                       : from[i].kind == PARAMETER_TEXT ? TYPE_TEXT
                                                        : TYPE_BYTEA;
        to->values[i] = is_bytes                               ? from[i].bytes.p
                        : from[i].kind == PARAMETER_NO_INTEGER ? NULL
                                                               : (char *)&to->integers[i];
        to->lengths[i] = is_bytes ? (int)from[i].bytes.n : (int)sizeof to->integers[i];
        const struct slice nothing = {NULL, 0};
        ok =
            replace_invalid(to, (int)i, from[i].kind == PARAMETER_TEXT ? from[i].bytes : nothing) &&
            ok;
    }
    return ok ? NULL : "out of memory";
}

/* Sends the pending commands and the statement in one message, so that they take one round trip.
 * Returns how many results follow; 0 on failure. */
static int send_all(struct connection *c, struct prepared *p, const struct arguments *a) {
    int sent = 0;
    bool ok = PQenterPipelineMode(c->db) == 1;
    for (size_t i = 0; ok && i < c->pending_count; i++, sent++)
        ok = PQsendQueryParams(c->db, c->pending[i], 0, NULL, NULL, NULL, NULL, 0) == 1;
    forget_pending(c);
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

/* Reads the next result, which arrives until `c->answer_by`; NULL: there is none. */
static PGresult *receive(struct connection *c) {
    struct pollfd socket = {.fd = PQsocket(c->db), .events = POLLIN};
    const int64_t longest = PQsslInUse(c->db) ? TLS_WAIT_MS : INT_MAX;
    while (is_usable(c) && PQisBusy(c->db)) {
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

/* Reads the results of the commands, then that of the synchronization; the last one is kept. */
static PGresult *receive_all(struct connection *c, int count) {
    PGresult *last = NULL;
    expect_answer(c);
    for (int i = 0; i < count; i++) {
        PQclear(last);
        last = receive(c);
        latch(c, last);
        if (last)
            PQclear(receive(c)); /* NULL: the end of this command's results */
    }
    PQclear(receive(c));
    if (!PQexitPipelineMode(c->db))
        c->is_broken = true;
    return last;
}

/* Sends the pending commands and the statement, and reads the results. */
static void exchange(struct connection *c, struct prepared *p, const struct arguments *arguments) {
    const bool was_named = *p->name;
    const int expected = is_usable(c) ? send_all(c, p, arguments) : 0;
    if (!expected) {
        latch(c, NULL);
        c->is_broken = true; /* some commands may be sent */
        return;
    }
    p->rows = receive_all(c, expected);
    p->row = -1;
    if (c->store.failure && !was_named)
        *p->name = '\0'; /* the failure may have been that of an earlier command */
}

/* Outside of a transaction a statement reads: it is repeated after a lost connection. */
static bool is_read_again(struct connection *c) {
    if (!c->store.failure || c->fault != FAULT_CONNECTION || c->is_open || !c->may_connect)
        return false;
    log_repeat(c, "a read");
    return reconnect(c, clock_monotonic() + c->lock_timeout_ms);
}

static void start(struct store *store, struct statement *statement,
                  const struct parameter *parameters, size_t count) {
    struct connection *c = connection_of(store);
    struct prepared *p = statement->prepared;
    struct arguments arguments;
    stop(statement);
    const char *problem = read_arguments(&arguments, parameters, count);
    if (problem) {
        free_arguments(&arguments);
        latch_reason(c, problem);
        return;
    }
    exchange(c, p, &arguments);
    if (is_read_again(c)) {
        stop(statement);
        exchange(c, p, &arguments);
    }
    free_arguments(&arguments);
    c->changes = store->failure ? 0 : (int)strtol(PQcmdTuples(p->rows), NULL, 10);
    c->work += WORK_OF_STATEMENT;
}

static bool row(struct store *store, struct statement *statement) {
    struct prepared *p = statement->prepared;
    (void)store;
    return p->rows && ++p->row < PQntuples(p->rows);
}

static int changes(const struct store *store) {
    return connection_of(store)->changes;
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

static void hold_view(struct store *store) {
    (void)store; /* each statement sees what was committed before it */
}

static void release_view(struct store *store) {
    (void)store;
}

/* Keeps a command for the next statement. */
__attribute__((format(printf, 2, 3))) static void add_pending(struct connection *c,
                                                              const char *format, ...) {
    char *text = NULL;
    va_list args;
    if (c->pending_count == c->pending_room) { /* a payload may lock the names of many accounts */
        const size_t room = 2 * c->pending_room + 8;
        char **larger = realloc(c->pending, room * sizeof *larger);
        if (!larger) {
            latch_memory(c);
            return;
        }
        c->pending = larger;
        c->pending_room = room;
    }
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        latch_memory(c);
    else
        c->pending[c->pending_count++] = text;
}

static bool begin(struct store *store) {
    struct connection *c = connection_of(store);
    if (store->failure)
        return false;
    const int64_t now = clock_monotonic();
    if (!store->repeat.count)
        c->until = now + c->lock_timeout_ms;
    c->work = 0;
    c->is_open = true;
    c->is_sent = false;
    add_pending(c, "BEGIN");
    add_pending(c, "SET LOCAL lock_timeout = %lld", /* 0 would be no limit */
                (long long)(c->until > now ? c->until - now : 1));
    return !store->failure;
}

/* Runs COMMIT or ROLLBACK; NULL without an answer. */
static PGresult *end(struct connection *c, const char *command) {
    expect_answer(c);
    PGresult *result = PQsendQuery(c->db, command) ? receive(c) : NULL;
    if (result)
        PQclear(receive(c));
    return result;
}

/* The server's answer to COMMIT of a transaction that has failed is ROLLBACK. */
static void commit(struct store *store) {
    struct connection *c = connection_of(store);
    forget_pending(c);
    if (!c->is_open)
        return;
    c->is_open = false;
    if (!c->is_sent)
        return;
    if (store->failure) {
        if (is_usable(c))
            PQclear(end(c, "ROLLBACK"));
        return;
    }
    PGresult *result = end(c, "COMMIT");
    latch(c, result);
    if (!store->failure && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        latch_reason(c, "the server rolled the commit back");
    else if (store->failure && c->fault == FAULT_CONNECTION)
        store->repeat.may_have_committed = true;
    PQclear(result);
}

static uint32_t hash_of(const char *text, uint32_t seed) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    char bytes[600];
    int n = snprintf(bytes, sizeof bytes, "%u:%s", seed, text);
    crypto_sha256((struct slice){bytes, n < (int)sizeof bytes ? (size_t)n : sizeof bytes - 1},
                  hash);
    return (uint32_t)hash[0] << 24 | (uint32_t)hash[1] << 16 | (uint32_t)hash[2] << 8 | hash[3];
}

/* Locks rows of users in the order of their ids. It is the lock that raising a counter takes. */
static void lock_counters(struct connection *c, const char *const *ids, size_t count) {
    struct arena arena;
    struct buffer list;
    arena_init(&arena, 1024 * 1024, NULL);
    list = buffer_in(&arena);
    for (size_t i = 0; i < count; i++) {
        char *id = PQescapeLiteral(c->db, ids[i], strlen(ids[i]));
        buffer_printf(&list, "%s%s", list.n ? "," : "", id ? id : "NULL");
        PQfreemem(id);
    }
    add_pending(c, "SELECT 1 FROM \"user\" WHERE id IN (%.*s) ORDER BY id FOR NO KEY UPDATE",
                (int)list.n, list.p);
    arena_free(&arena);
}

/* Returns the numbers of the locks, sorted, as the text of an array. A lock is a bucket of names,
 * so that a payload of thousands of names does not fill the server's table of locks. */
static const char *list_locks(struct arena *arena, enum sql_lock_kind kind, const char *owner,
                              const char *const *names, size_t count) {
    const uint64_t space = (uint64_t)hash_of(owner ? owner : "", (uint32_t)kind) << 32;
    bool is_taken[LOCK_BUCKETS + 1] = {false};
    struct buffer list = buffer_in(arena);
    is_taken[LOCK_BUCKETS] = !count; /* the lock of the whole kind and owner */
    for (size_t i = 0; i < count; i++)
        is_taken[hash_of(names[i], 0) % LOCK_BUCKETS] = true;
    for (uint64_t i = 0; i <= LOCK_BUCKETS; i++)
        if (is_taken[i])
            buffer_printf(&list, "%c%lld", list.n ? ',' : '{', (long long)(int64_t)(space | i));
    buffer_add_char(&list, '}');
    buffer_add_char(&list, '\0');
    return list.p;
}

/* Takes advisory locks, in the order of their numbers. */
static void lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                 const char *const *names, size_t count) {
    struct arena arena;
    if (kind == LOCK_COUNTERS) {
        lock_counters(connection_of(store), names, count);
        return;
    }
    arena_init(&arena, 1024 * 1024, NULL);
    add_pending(connection_of(store),
                "SELECT pg_advisory_xact_lock(k) FROM "
                "(SELECT k FROM unnest('%s'::bigint[]) k ORDER BY k OFFSET 0) keys",
                list_locks(&arena, kind, owner, names, count));
    arena_free(&arena);
}

static bool try_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                     const char *const *names, size_t count) {
    static struct statement s = {.sql = "SELECT bool_and(pg_try_advisory_xact_lock(k)) "
                                        "FROM unnest(CAST(?1 AS bigint[])) k"};
    struct arena arena;
    bool is_taken = false;
    arena_init(&arena, 1024 * 1024, NULL);
    sql_start(store, &s, TEXT(list_locks(&arena, kind, owner, names, count)));
    if (sql_row(store, &s)) {
        is_taken = column_integer(&s, 0) == 1;
        sql_stop(&s);
    }
    arena_free(&arena);
    return is_taken;
}

static void limit_work(struct store *store, int64_t most) {
    connection_of(store)->most_work = most;
}

static bool is_within_limit(struct store *store) {
    struct connection *c = connection_of(store);
    if (!c->most_work || c->work <= c->most_work)
        return true;
    if (!store->failure)
        store->failure = sql_refuse(store, STORE_EXCESSIVE, "the transaction has too much work");
    return false;
}

const struct driver postgresql_driver = {
    .open = open_database,
    .close = close_database,
    .is_alive = is_alive,
    .set_lock_timeout = set_lock_timeout,
    .tend = tend,
    .prepare = prepare,
    .drop = drop,
    .start = start,
    .row = row,
    .stop = stop,
    .changes = changes,
    .column = column,
    .integer = integer,
    .is_null = is_null,
    .hold_view = hold_view,
    .release_view = release_view,
    .forbid_reconnecting = forbid_reconnecting,
    .begin = begin,
    .commit = commit,
    .repeat = repeat,
    .lock = lock,
    .try_lock = try_lock,
    .limit_work = limit_work,
    .is_within_limit = is_within_limit,
};
