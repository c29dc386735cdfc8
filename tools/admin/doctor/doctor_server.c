/* The checks of doctor for a database on a server: the role that reads, and the connections. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

enum { BESIDE_POOLS = 2 }; /* the courier, and a command */

void doctor_check_reader(struct report *report) {
    struct invocation *call = report->call;
    const char *reader = call->config.reader;
    struct store *store = NULL;
    struct store_finding *findings;
    size_t count;
    if (!call->store || strcmp(reader, call->config.database) == 0)
        return;
    if (store_open_for_reading(reader, &store) != STORE_OK ||
        store_inspect_reader(store, &call->arena, &findings, &count) != STORE_OK)
        report_add(report, FAIL, "database reader", "%s", store_reason(store));
    else
        report_add_findings(report, findings, count);
    store_close(store);
}

/* --- the pools of this host --- */

struct pools {
    long count, least, most; /* of all pools: their processes */
};

/* Returns what follows `option` in the arguments, which end with NUL each; "": nothing. */
static const char *argument(const char *arguments, size_t length, const char *option) {
    const char *end = arguments + length;
    for (const char *p = arguments; p < end && strcmp(p, "--") != 0; p += strlen(p) + 1) {
        const char *value = p + strlen(p) + 1;
        if (strcmp(p, option) == 0 && value < end)
            return value;
    }
    return "";
}

/* Adds the process if it is a pool (tools/pool.c) that watches this configuration. */
static void add_pool(struct pools *pools, const char *process, const char *config_path) {
    char path[64], arguments[4096];
    snprintf(path, sizeof path, "/proc/%.20s/cmdline", process);
    size_t length = doctor_read_start(path, arguments, sizeof arguments - 1);
    arguments[length] = '\0';
    const char *name = strrchr(arguments, '/');
    if (!length || strcmp(name ? name + 1 : arguments, "pool") != 0 ||
        strcmp(argument(arguments, length, "--watch"), config_path) != 0)
        return;
    long least = strtol(argument(arguments, length, "--processes"), NULL, 10);
    long most = strtol(argument(arguments, length, "--max-processes"), NULL, 10);
    pools->count++;
    pools->least += least;
    pools->most += most > least ? most : least;
}

static struct pools find_pools(const char *config_path) {
    struct pools pools = {0};
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        if (entry->d_name[strspn(entry->d_name, "0123456789")] == '\0')
            add_pool(&pools, entry->d_name, config_path);
    if (processes)
        closedir(processes);
    return pools;
}

void doctor_check_connections(struct report *report) {
    struct invocation *call = report->call;
    struct store_connections connections;
    if (!call->store)
        return;
    if (store_count_connections(call->store, &connections) != STORE_OK) {
        report_add(report, FAIL, "connections", "%s", store_reason(call->store));
        return;
    }
    if (!connections.most)
        return;
    const struct pools pools = find_pools(call->config_path);
    const long least = pools.least + BESIDE_POOLS, most = pools.most + BESIDE_POOLS;
    const bool is_enough = connections.is_pooled || most <= connections.most;
    report_add(report,
               is_enough                  ? OK
               : least > connections.most ? FAIL
                                          : WARN,
               "connections",
               "%d of %d in use; this host needs %ld to %ld%s, for %ld pool%s, the courier and a "
               "command%s",
               connections.used, connections.most, least, most,
               connections.is_pooled ? " of the pooler" : "", pools.count,
               pools.count == 1 ? "" : "s",
               is_enough ? ""
                         : ": lower MAX_PROCESSES of the pools, raise max_connections of the "
                           "server, or put a pooler between");
}
