#include "engine/postgresql_connection.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOCK_TIMEOUT_MS = 5000,
    OLDEST_SERVER = 150000,
};

PGconn *postgresql_handle(struct store *store) {
    return connection_of(store)->db;
}

bool postgresql_is_pooled(const struct store *store) {
    return connection_of(store)->is_pooled;
}

const struct hosts *postgresql_hosts(const struct store *store) {
    return &connection_of(store)->hosts;
}

/* libpq prints notices to standard error, which is the web server's log. */
static void ignore_notice(void *context, const PGresult *result) {
    (void)context, (void)result;
}

static void ignore_notices(struct connection *c) {
    if (c->db)
        PQsetNoticeReceiver(c->db, ignore_notice, NULL);
}

enum store_result postgresql_make(const struct driver *driver, const char *target, bool for_reading,
                                  struct store **out) {
    struct connection *c = calloc(1, sizeof *c);
    char *url = strdup(target);
    *out = c && url ? &c->store : NULL;
    if (!*out) {
        free(c);
        free(url);
        return STORE_UNKNOWN;
    }
    c->store.driver = driver;
    c->lock_timeout_ms = LOCK_TIMEOUT_MS;
    c->is_reader = for_reading;
    c->may_connect = true;
    c->is_pooled = postgresql_take_pooler(url);
    c->url = url;
    c->target = strdup(target);
    enum store_result result = STORE_OK;
    if (!postgresql_is_valid(url))
        result = sql_refuse(&c->store, STORE_UNAVAILABLE,
                            "the URL is not one that libpq reads: postgresql://USER@HOST:PORT/NAME"
                            "?PARAMETER=VALUE, with reserved characters written as %%XX");
    else if (!hosts_read(&c->hosts, url))
        result = sql_refuse(&c->store, STORE_UNAVAILABLE, "the URL names too many hosts");
    else if (!c->target || !(c->db = postgresql_connect_to(url, &c->hosts, for_reading)))
        result = sql_refuse(&c->store, STORE_UNKNOWN, "out of memory");
    else if (PQstatus(c->db) != CONNECTION_OK)
        result = postgresql_refuse_connection(c);
    else if (PQserverVersion(c->db) < OLDEST_SERVER)
        result = sql_refuse(&c->store, STORE_UNAVAILABLE,
                            "the server has version %s; this program needs PostgreSQL %d or newer",
                            PQparameterStatus(c->db, "server_version"), OLDEST_SERVER / 10000);
    ignore_notices(c);
    return result;
}

void postgresql_replace(struct connection *c, PGconn *db) {
    PQfinish(c->db);
    c->db = db;
    c->is_broken = c->is_open = c->is_hanging = false;
    ignore_notices(c);
    for (struct statement *s = c->store.prepared; s; s = s->next)
        *((struct prepared *)s->prepared)->name = '\0';
}

/* --- commands of constant text without parameters --- */

static PGresult *run(struct store *store, const char *sql) {
    struct connection *c = connection_of(store);
    postgresql_receive(c);
    PGresult *result = store->failure ? NULL : PQexec(c->db, sql);
    if (!store->failure)
        postgresql_latch(c, result);
    return result;
}

bool postgresql_script(struct store *store, const char *sql) {
    PQclear(run(store, sql));
    return !store->failure;
}

/* The first column of the first row; NULL: it is NULL, or there is no row, as after a failure. */
static const char *first_value(const PGresult *result) {
    return PQntuples(result) && !PQgetisnull(result, 0, 0) ? PQgetvalue(result, 0, 0) : NULL;
}

int64_t postgresql_integer(struct store *store, const char *sql) {
    PGresult *result = run(store, sql);
    const char *text = first_value(result);
    const int64_t value = text ? strtoll(text, NULL, 10) : -1;
    PQclear(result);
    return value;
}

const char *postgresql_text(struct store *store, struct arena *arena, const char *sql) {
    PGresult *result = run(store, sql);
    const char *text = first_value(result);
    const char *value = text ? arena_copy(arena, slice_of(text)) : NULL;
    PQclear(result);
    return value;
}
