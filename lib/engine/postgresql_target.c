#include "engine/postgresql_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "engine/postgresql.h"

#define NO_FILE "/nonexistent"

enum { FIRST_WITH_SYSTEM_ROOTS = 160000 };

/* Removes the parameter pooler=transaction, which libpq does not have; true if it was there. */
bool postgresql_take_pooler(char *target) {
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

/* The parameters that libpq gets for each connection. */
enum { MOST_SETTINGS = 96 };
struct settings {
    const char *names[MOST_SETTINGS + 1], *values[MOST_SETTINGS + 1];
    size_t count;
};

/* One that was added later replaces one of the same name. libpq ignores an empty value. */
static void add(struct settings *to, const char *name, const char *value) {
    if (!value || !*value || to->count == MOST_SETTINGS)
        return;
    to->names[to->count] = name;
    to->values[to->count++] = value;
}

/* What the URL may replace. Beyond this machine a server must prove its name (RFC 6125): without
 * `sslmode`, libpq goes on without TLS if the server, or a host between, has none. */
static void add_defaults(struct settings *to, const char *sslmode, bool is_remote,
                         bool for_reading) {
    add(to, "connect_timeout", "2"); /* seconds, for each host */
    add(to, "tcp_user_timeout", "3000");
    add(to, "keepalives_idle", "3"); /* a host that vanished while it worked on an answer */
    add(to, "keepalives_interval", "1");
    add(to, "keepalives_count", "3");
    add(to, "gssencmode", "disable"); /* it would look for Kerberos tickets */
    add(to, "application_name", "switchboard");
    add(to, "target_session_attrs", for_reading ? "primary" : "read-write");
    if (!*sslmode && is_remote && !getenv("PGSSLMODE"))
        add(to, "sslmode", sslmode = "verify-full");
    if (strcmp(sslmode, "verify-full") == 0 && PQlibVersion() >= FIRST_WITH_SYSTEM_ROOTS &&
        !getenv("PGSSLROOTCERT"))
        add(to, "sslrootcert", "system");
}

static void add_url(struct settings *to, const PQconninfoOption *options) {
    static const char *const lists[] = {"host", "hostaddr", "port"}; /* `hosts` has them */
    for (; options && options->keyword; options++) {
        bool is_list = false;
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            is_list = is_list || strcmp(options->keyword, lists[i]) == 0;
        if (!is_list)
            add(to, options->keyword, options->val);
    }
}

/* Of the last connection, also of one that failed: what libpq has looked up in the user database
 * and the home directory. A process that is confined by now may not look it up again. */
static struct { char *url, *user, *password; } known;

static void remember(const char *url, const PGconn *db) {
    const bool is_refused = PQstatus(db) != CONNECTION_OK && PQconnectionUsedPassword(db);
    const char *user = PQuser(db), *password = is_refused ? NULL : PQpass(db);
    free(known.url);
    free(known.user);
    free(known.password);
    known.url = strdup(url);
    known.user = user ? strdup(user) : NULL;
    known.password = password ? strdup(password) : NULL;
}

static void add_credentials(struct settings *to, const char *url) {
    if (!known.url || !known.user || strcmp(known.url, url) != 0)
        return;
    add(to, "user", known.user);
    if (known.password && *known.password)
        add(to, "password", known.password);
    else
        add(to, "passfile", NO_FILE);
}

PGconn *postgresql_connect_to(const char *url, const struct hosts *hosts, bool for_reading) {
    struct settings p = {.count = 0};
    if (getauxval(AT_SECURE))
        forget_environment();
    PQconninfoOption *options = parse(url);
    add_defaults(&p, option_of(options, "sslmode"), hosts_are_remote(hosts), for_reading);
    add_url(&p, options);
    add(&p, "host", hosts->names);
    add(&p, "hostaddr", hosts->addresses);
    add(&p, "port", hosts->ports);
    add(&p, "client_encoding", "UTF8");
    add_credentials(&p, url);
    PGconn *db = PQconnectdbParams(p.names, p.values, 0);
    remember(url, db);
    PQconninfoFree(options);
    return db;
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

bool postgresql_is_valid(const char *url) {
    PQconninfoOption *options = parse(url);
    const bool is_valid = options && is_clear(url, option_of(options, "port"));
    PQconninfoFree(options);
    return is_valid;
}

const char *postgresql_user(const char *target, struct arena *arena) {
    char *url = arena_copy(arena, slice_of(target));
    postgresql_take_pooler(url);
    PQconninfoOption *options = postgresql_is_valid(url) ? parse(url) : NULL;
    const char *user = arena_copy(arena, slice_of(option_of(options, "user")));
    PQconninfoFree(options);
    return *user ? user : NULL;
}

bool postgresql_read_hosts(const char *url, struct hosts *hosts) {
    PQconninfoOption *options = parse(url);
    const bool is_read = hosts_read(hosts, options);
    PQconninfoFree(options);
    return is_read;
}

const char *postgresql_sslmode(PGconn *db, struct arena *arena) {
    PQconninfoOption *options = PQconninfo(db);
    const char *mode = arena_copy(arena, slice_of(option_of(options, "sslmode")));
    PQconninfoFree(options);
    return mode;
}
