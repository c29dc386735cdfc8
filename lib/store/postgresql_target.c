#include "store/postgresql_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "store/postgresql.h"

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

/* The parameters before dbname are defaults, which the target may replace. */
PGconn *postgresql_connect_to(const char *target, bool for_reading) {
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

/* Returns the length of the first part of a list with commas, and moves `list` behind it. */
static int next_part(const char **list) {
    const int n = (int)strcspn(*list, ",");
    *list += n + ((*list)[n] == ',');
    return n;
}

/* A list of one port is that of all hosts. */
void postgresql_list_hosts(PGconn *db, char *text, size_t size) {
    PQconninfoOption *options = PQconninfo(db);
    const char *hosts = option_of(options, "host"), *ports = option_of(options, "port");
    size_t used = 0;
    if (!*hosts)
        hosts = option_of(options, "hostaddr");
    *text = '\0';
    while (*hosts && used < size) {
        const char *host = hosts, *port = ports;
        const int host_n = next_part(&hosts), port_n = next_part(&ports);
        used += (size_t)snprintf(text + used, size - used, "%s%.*s:%.*s", used ? ", " : "", host_n,
                                 host, port_n, port);
        if (!*ports)
            ports = port;
    }
    PQconninfoFree(options);
}
