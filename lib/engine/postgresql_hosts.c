#include "engine/postgresql_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT "5432"

static bool read_list(char *list, size_t size, const PQconninfoOption *options,
                      const char *keyword) {
    *list = '\0';
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0 && options->val)
            return snprintf(list, size, "%s", options->val) < (int)size;
    return true;
}

bool hosts_read(struct hosts *hosts, const PQconninfoOption *options) {
    return read_list(hosts->names, sizeof hosts->names, options, "host") &&
           read_list(hosts->addresses, sizeof hosts->addresses, options, "hostaddr") &&
           read_list(hosts->ports, sizeof hosts->ports, options, "port");
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
