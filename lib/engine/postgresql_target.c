#include "engine/postgresql_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "engine/postgresql.h"

#define NO_FILE      "/nonexistent"
#define DEFAULT_PORT "5432"

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

const char *postgresql_sslmode(PGconn *db, struct arena *arena) {
    PQconninfoOption *options = PQconninfo(db);
    const char *mode = arena_copy(arena, slice_of(option_of(options, "sslmode")));
    PQconninfoFree(options);
    return mode;
}

/* --- the hosts --- */

static bool read_list(char *list, size_t size, const PQconninfoOption *options,
                      const char *keyword) {
    return snprintf(list, size, "%s", option_of(options, keyword)) < (int)size;
}

bool hosts_read(struct hosts *hosts, const char *url) {
    PQconninfoOption *options = parse(url);
    const bool is_read =
        read_list(hosts->names, sizeof hosts->names, options, "host") &&
        read_list(hosts->addresses, sizeof hosts->addresses, options, "hostaddr") &&
        read_list(hosts->ports, sizeof hosts->ports, options, "port");
    PQconninfoFree(options);
    return is_read;
}

/* The list that determines how many hosts there are. */
static const char *main_list(const struct hosts *hosts) {
    return *hosts->names ? hosts->names : hosts->addresses;
}

bool hosts_are_several(const struct hosts *hosts) {
    return strchr(main_list(hosts), ',');
}

/* Returns the length of the part `at` of a list with commas, and sets `part` to its begin. A list
 * of one part is that of all hosts. */
static int part_of(const char *list, int at, const char **part) {
    if (!strchr(list, ','))
        at = 0;
    for (; at > 0 && *list; at--)
        list += strcspn(list, ",") + (list[strcspn(list, ",")] == ',');
    *part = list;
    return (int)strcspn(list, ",");
}

static int count_parts(const char *list) {
    int count = *list ? 1 : 0;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

static bool part_is(const char *list, int at, const char *text) {
    const char *part;
    const int n = part_of(list, at, &part);
    return n == (int)strlen(text) && strncmp(part, text, (size_t)n) == 0;
}

static bool is_host(const struct hosts *hosts, int at, const PGconn *db) {
    const char *host = PQhost(db), *port = PQport(db);
    return host && port && part_is(main_list(hosts), at, host) &&
           (part_is(hosts->ports, at, port) ||
            (part_is(hosts->ports, at, "") && strcmp(port, DEFAULT_PORT) == 0));
}

/* Removes the part `at`; a list of one part stays. */
static void remove_part(char *list, int at) {
    const char *part;
    if (!strchr(list, ','))
        return;
    const size_t n = (size_t)part_of(list, at, &part);
    char *begin = list + (part - list), *end = begin + n;
    if (*end)
        end++;
    else
        begin--;
    memmove(begin, end, strlen(end) + 1);
}

bool hosts_remove(struct hosts *hosts, const PGconn *db) {
    const int count = count_parts(main_list(hosts));
    for (int i = 0; i < count && count > 1; i++)
        if (is_host(hosts, i, db)) {
            remove_part(hosts->names, i);
            remove_part(hosts->addresses, i);
            remove_part(hosts->ports, i);
            return true;
        }
    return false;
}

static bool is_local(const char *part, int n) {
    static const char *const names[] = {"localhost", "::1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (n == (int)strlen(names[i]) && strncmp(part, names[i], (size_t)n) == 0)
            return true;
    return !n || *part == '/' || *part == '@' ||
           (strncmp(part, "127.", 4) == 0 && (int)strspn(part, "0123456789.") >= n);
}

bool hosts_are_remote(const struct hosts *hosts) {
    const char *list = main_list(hosts), *part;
    for (int i = 0; i < count_parts(list); i++) {
        const int n = part_of(list, i, &part);
        if (!is_local(part, n))
            return true;
    }
    return false;
}

void hosts_write(const struct hosts *hosts, char *text, size_t size) {
    const char *list = main_list(hosts), *host, *port;
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < count_parts(list) && used < size; i++) {
        const int host_n = part_of(list, i, &host), port_n = part_of(hosts->ports, i, &port);
        used += (size_t)snprintf(text + used, size - used, "%s%.*s:%.*s", used ? ", " : "", host_n,
                                 host, port_n ? port_n : (int)strlen(DEFAULT_PORT),
                                 port_n ? port : DEFAULT_PORT);
    }
}
