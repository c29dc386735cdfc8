#include "engine/postgresql_connection.h"

#include <stdlib.h>
#include <string.h>

#include "engine/postgresql_driver.h"
#include "engine/postgresql_target.h"

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
    else if (!postgresql_read_hosts(url, &c->hosts))
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

void postgresql_close(struct store *store) {
    struct connection *c = connection_of(store);
    postgresql_forget_pending(c);
    free(c->pending);
    free(c->awaited);
    PQfinish(c->db);
    free(c->target);
    free(c->url);
    free(c);
}

int postgresql_forbid_reconnecting(struct store *store) {
    connection_of(store)->may_connect = false;
    return PQsocket(connection_of(store)->db);
}

enum store_result postgresql_set_lock_timeout(struct store *store, int ms) {
    connection_of(store)->lock_timeout_ms = ms;
    return STORE_OK;
}
