/* Faults of a database server in the middle of a use-case. The store's connection runs through a
 * proxy, a thread, which counts the exchanges of a call: what the driver sends in one piece. One of
 * them can be disturbed: the session is ended before it, or its answer is lost. */
#ifndef SWITCHBOARD_TEST_SERVER_FAULTS_H
#define SWITCHBOARD_TEST_SERVER_FAULTS_H

#include "account_line.h"
#include "base/log.h"

#ifdef SWITCHBOARD_POSTGRESQL
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

enum fault_kind { SESSION_ENDS, CONNECTION_ENDS, ANSWER_IS_LOST };

static struct {
    char directory[64], url[512]; /* of the proxy */
    PGconn *control;              /* for the main thread, to the server itself */
    char *dump, *save, *restore;  /* SQL */
    atomic_int exchanges, last_commit;
    atomic_int at; /* the exchange that is disturbed; 0: none */
    atomic_int kind;
    int listener;
} proxy;

/* --- the proxy --- */

static inline struct sockaddr_un socket_in(const char *directory) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.5432", directory);
    return address;
}

static inline int connect_server(void) {
    const struct sockaddr_un address = socket_in(PQhost(proxy.control));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    perror(address.sun_path);
    exit(1);
}

static inline void send_all_bytes(int fd, const char *bytes, size_t n) {
    while (n) {
        const ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        n -= (size_t)sent;
    }
}

/* What the client has sent and the proxy has not. */
struct held {
    char *bytes;
    size_t n, room;
    size_t seen;     /* bytes of whole messages */
    bool is_started; /* the first message, which has no type, was seen */
};

/* Passes what is held on; false when the connection is to be closed. */
static inline bool pass(struct held *held, int server, bool is_exchange) {
    const int number = is_exchange ? atomic_fetch_add(&proxy.exchanges, 1) + 1 : -1;
    const bool is_disturbed = number > 0 && number == atomic_load(&proxy.at);
    const int kind = atomic_load(&proxy.kind);
    if (is_exchange && memmem(held->bytes, held->seen, "COMMIT", sizeof "COMMIT"))
        atomic_store(&proxy.last_commit, number);
    if (is_disturbed)
        atomic_store(&proxy.at, 0);
    if (is_disturbed && kind == CONNECTION_ENDS)
        return false;
    if (is_disturbed && kind == SESSION_ENDS) {
        PGconn *killer = PQconnectdb(database);
        PQclear(PQexec(killer, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                               "datname = current_database() AND application_name = 'proxied'"));
        PQfinish(killer);
    }
    send_all_bytes(server, held->bytes, held->seen);
    memmove(held->bytes, held->bytes + held->seen, held->n -= held->seen);
    held->seen = 0;
    if (!is_disturbed || kind != ANSWER_IS_LOST)
        return true;
    char dropped[4096];
    shutdown(server, SHUT_WR); /* the server carries out what it got, and ends */
    while (recv(server, dropped, sizeof dropped, 0) > 0)
        ;
    return false;
}

/* Reads from the client, and passes whole exchanges on. */
static inline bool take_from_client(struct held *held, int client, int server) {
    if (held->room - held->n < 65536)
        held->bytes = realloc(held->bytes, held->room += 1 << 20);
    const ssize_t got = recv(client, held->bytes + held->n, 65536, 0);
    if (got <= 0)
        return false;
    held->n += (size_t)got;
    for (;;) {
        const unsigned char *p = (const unsigned char *)held->bytes + held->seen;
        const size_t header = held->is_started ? 5 : 4, left = held->n - held->seen;
        if (left < header)
            return true;
        const unsigned char *length = p + header - 4;
        const size_t n = (header - 4) + ((size_t)length[0] << 24 | (size_t)length[1] << 16 |
                                         (size_t)length[2] << 8 | length[3]);
        if (left < n)
            return true;
        const char type = held->is_started ? (char)*p : 'X';
        held->seen += n;
        held->is_started = true;
        if (strchr("SQXp", type) && !pass(held, server, type == 'S' || type == 'Q'))
            return false;
    }
}

static inline void serve_client(int client) {
    const int server = connect_server();
    struct held held = {0};
    struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    bool goes_on = true;
    while (goes_on && poll(ends, 2, -1) > 0) {
        char bytes[65536];
        if (ends[0].revents)
            goes_on = take_from_client(&held, client, server);
        if (goes_on && ends[1].revents) {
            const ssize_t got = recv(server, bytes, sizeof bytes, 0);
            goes_on = got > 0;
            send_all_bytes(client, bytes, goes_on ? (size_t)got : 0);
        }
    }
    close(client);
    close(server);
    free(held.bytes);
}

static inline void *run_proxy(void *unused) {
    (void)unused;
    for (int client; (client = accept4(proxy.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
        serve_client(client);
    return NULL;
}

/* --- the content --- */

static inline PGresult *control(const char *sql) {
    PGresult *result = PQexec(proxy.control, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        printf("%s: %s\n", sql, PQerrorMessage(proxy.control));
        exit(1);
    }
    return result;
}

/* The SQL that saves, restores and prints all tables. Foreign keys become deferrable: that changes
 * nothing but for a transaction that defers them. */
static inline void write_sql(void) {
    struct buffer dump = buffer_in(&arena), save = buffer_in(&arena), back = buffer_in(&arena);
    struct buffer fill = buffer_in(&arena), make = buffer_in(&arena);
    PQclear(control("SET client_min_messages = error; SET bytea_output = 'escape'; "
                    "CREATE SCHEMA saved"));
    PGresult *keys = control("SELECT format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE', "
                             "conrelid::regclass, conname) FROM pg_constraint WHERE contype = 'f'");
    for (int i = 0; i < PQntuples(keys); i++)
        PQclear(control(PQgetvalue(keys, i, 0)));
    PQclear(keys);
    PGresult *tables = control("SELECT format('%I', tablename) FROM pg_tables "
                               "WHERE schemaname = 'public' ORDER BY 1");
    buffer_add_text(&back, "BEGIN; SET CONSTRAINTS ALL DEFERRED;");
    for (int i = 0; i < PQntuples(tables); i++) {
        const char *t = PQgetvalue(tables, i, 0);
        /* its number is random */
        if (strcmp(t, "settings_version") != 0)
            buffer_printf(&dump, "%sSELECT '%s ' || t::text FROM public.%s t",
                          dump.n ? " UNION ALL " : "", t, t);
        buffer_printf(&make, "CREATE UNLOGGED TABLE saved.%s (LIKE public.%s);", t, t);
        buffer_printf(&save, "DELETE FROM saved.%s; INSERT INTO saved.%s TABLE public.%s;", t, t,
                      t);
        buffer_printf(&back, "DELETE FROM public.%s;", t);
        buffer_printf(&fill, "INSERT INTO public.%s SELECT * FROM saved.%s;", t, t);
    }
    PQclear(tables);
    PQclear(control(buffer_slice(&make).p));
    buffer_add_slice(&back, buffer_slice(&fill));
    buffer_add_text(&back, "COMMIT");
    proxy.dump = strdup(buffer_slice(&dump).p);
    proxy.save = strdup(buffer_slice(&save).p);
    proxy.restore = strdup(buffer_slice(&back).p);
}

/* Replaces the ids in `row` that are not in `known`: they differ from run to run. */
static inline void hide_new_ids(char *row, struct slice known) {
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    for (char *p = strchr(row, '_'); p; p = strchr(p + 1, '_'))
        if (p - row >= 3 && strspn(p + 1, digits) >= 26 &&
            !(known.n && memmem(known.p, known.n, p - 3, 30)))
            memset(p + 1, '#', 26);
}

static inline int compare_rows(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The rows of all tables, sorted. */
static inline struct slice rows_of_all(struct slice known) {
    struct buffer out = buffer_in(&arena);
    PGresult *result = control(proxy.dump);
    const size_t n = (size_t)PQntuples(result);
    char **rows = calloc(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        rows[i] = strdup(PQgetvalue(result, (int)i, 0));
        hide_new_ids(rows[i], known);
    }
    qsort(rows, n, sizeof *rows, compare_rows);
    for (size_t i = 0; i < n; i++) {
        buffer_printf(&out, "%s\n", rows[i]);
        free(rows[i]);
    }
    free(rows);
    PQclear(result);
    return buffer_slice(&out);
}

/* --- the faults --- */

static inline bool has_server(void) {
    return *database != '/';
}

/* Opens the store again, through the proxy. */
static inline void start_faults(void) {
    pthread_t thread;
    if (!has_server())
        return;
    log_to("/dev/null"); /* the store logs each repetition */
    proxy.control = PQconnectdb(database);
    write_sql();
    snprintf(proxy.directory, sizeof proxy.directory, "/tmp/proxy-XXXXXX");
    check(mkdtemp(proxy.directory) != NULL, "%s", proxy.directory);
    const struct sockaddr_un address = socket_in(proxy.directory);
    proxy.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(bind(proxy.listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
              listen(proxy.listener, 8) == 0 && pthread_create(&thread, NULL, run_proxy, NULL) == 0,
          "%s", address.sun_path);
    snprintf(proxy.url, sizeof proxy.url,
             "postgresql:///%s?host=%s&user=%s&application_name=proxied", PQdb(proxy.control),
             proxy.directory, PQuser(proxy.control));
    store_close(store);
    check_ok(store_open(proxy.url, &store));
}

static inline void end_faults(void) {
    if (!has_server())
        return;
    unlink(socket_in(proxy.directory).sun_path);
    rmdir(proxy.directory);
    PQfinish(proxy.control);
}

/* Makes the call with a fault in the exchange `at`. Its result and the content are those of the
 * call without one. */
static inline void disturb(const char *name, enum store_result (*call)(void), int kind, int at,
                           struct slice before, struct slice after) {
    static const char *const kinds[] = {"session ended", "connection ended", "answer lost"};
    PQclear(control(proxy.restore));
    atomic_store(&proxy.exchanges, 0);
    atomic_store(&proxy.kind, kind);
    atomic_store(&proxy.at, at);
    enum store_result result = call();
    /* the server may hold the lock of the regular work for a session whose connection has ended */
    for (int tries = 0; result == STORE_BUSY && tries < 500; tries++) {
        usleep(10000);
        result = call();
    }
    check(atomic_exchange(&proxy.at, 0) == 0, "%s: there was no exchange %d", name, at);
    check(result == STORE_OK, "%s, %s at %d: %d %s", name, kinds[kind], at, result,
          store_reason(store));
    const struct slice now_there = rows_of_all(before);
    if (slice_equal(after, now_there)) {
        check_count++;
        return;
    }
    size_t line = 0, i = 0;
    for (; i < after.n && i < now_there.n && after.p[i] == now_there.p[i]; i++)
        if (after.p[i] == '\n')
            line = i + 1;
    check(false, "%s, %s at %d:\n  %.200s\n  instead of\n  %.200s", name, kinds[kind], at,
          now_there.p + line, after.p + line);
}

/* Makes the call, with the result STORE_OK, and then again for each fault. At the end the database
 * is as after the first call. With TEST_FULL each exchange is disturbed. */
static inline enum store_result with_faults(const char *name, enum store_result (*call)(void)) {
    if (!has_server())
        return call();
    PQclear(control(proxy.save));
    const struct slice before = rows_of_all((struct slice){NULL, 0});
    atomic_store(&proxy.exchanges, 0);
    atomic_store(&proxy.last_commit, 0);
    const enum store_result result = call();
    const int count = atomic_load(&proxy.exchanges), commit = atomic_load(&proxy.last_commit);
    const struct slice after = rows_of_all(before);
    check(commit > 0, "%s commits", name);
    for (int at = 1; at <= count; at++)
        if (getenv("TEST_FULL") || at == 1 || at == count / 2 || at == commit) {
            disturb(name, call, SESSION_ENDS, at, before, after);
            if (at != 1)
                disturb(name, call, CONNECTION_ENDS, at, before, after);
        }
    disturb(name, call, ANSWER_IS_LOST, commit, before, after);
    return result;
}

#else
static inline void start_faults(void) {
}
static inline void end_faults(void) {
}
static inline enum store_result with_faults(const char *name, enum store_result (*call)(void)) {
    (void)name;
    return call();
}
#endif

#endif
