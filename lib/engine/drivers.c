/* The kinds of databases that this program supports, and opening one of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/target.h"
#include "engine/driver.h"
#ifdef SWITCHBOARD_POSTGRESQL
#include "engine/postgresql.h"
#endif

static const struct {
    const char *scheme; /* of the target's URL; "": the target is a file */
    const struct driver *driver;
    const char *meaning;
} drivers[] = {
    {"", &sqlite_driver, "the absolute path of a SQLite database"},
#ifdef SWITCHBOARD_POSTGRESQL
    {"postgresql", &postgresql_driver, "postgresql://USER@HOST:PORT/NAME"},
#endif
};

enum { DRIVER_COUNT = sizeof drivers / sizeof *drivers };

const struct driver *driver_of(const char *target) {
    size_t n = target_scheme(target);
    if (!n && !target_file(target))
        return NULL;
    for (size_t i = 0; i < DRIVER_COUNT; i++)
        if (strlen(drivers[i].scheme) == n && strncmp(drivers[i].scheme, target, n) == 0)
            return drivers[i].driver;
    return NULL;
}

enum store_result driver_refuse(const char *target, struct store **out) {
    struct store *store = *out = calloc(1, sizeof *store);
    size_t n = target_scheme(target);
    if (!store)
        return STORE_UNKNOWN;
    sql_refuse(store, STORE_UNAVAILABLE, "this program supports no database at %.*s%s; it supports",
               (int)n, target, n ? "://" : "that target");
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        size_t used = strlen(store->reason);
        snprintf(store->reason + used, sizeof store->reason - used, "%s %s", i ? "," : "",
                 drivers[i].meaning);
    }
#ifndef SWITCHBOARD_POSTGRESQL
    const size_t end = strlen(store->reason);
    if (n)
        snprintf(store->reason + end, sizeof store->reason - end,
                 ". For a server install the programs that `make POSTGRESQL=1` builds");
#endif
    return STORE_UNAVAILABLE;
}

static enum store_result open_store(const char *target, bool for_reading, struct store **store) {
    const struct driver *driver = driver_of(target);
    return driver ? driver->open(target, for_reading, store) : driver_refuse(target, store);
}

enum store_result store_open(const char *target, struct store **store) {
    return open_store(target, false, store);
}

enum store_result store_open_for_reading(const char *target, struct store **store) {
    return open_store(target, true, store);
}
