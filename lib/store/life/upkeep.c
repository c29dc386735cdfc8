#include "store/upkeep.h"

#include "engine/driver.h"
#ifdef SWITCHBOARD_POSTGRESQL
#include "engine/postgresql.h"
#endif

/* What the CLI does with each kind of database. */
static const struct {
    const struct driver *driver;
    const struct upkeep *upkeep;
} upkeeps[] = {
    {&sqlite_driver, &sqlite_upkeep},
#ifdef SWITCHBOARD_POSTGRESQL
    {&postgresql_driver, &postgresql_upkeep},
#endif
};

/* NULL: the driver is NULL. */
static const struct upkeep *upkeep_of(const struct driver *driver) {
    for (size_t i = 0; i < sizeof upkeeps / sizeof *upkeeps; i++)
        if (upkeeps[i].driver == driver)
            return upkeeps[i].upkeep;
    return NULL;
}

enum store_result store_migrate(const char *target, int *from, int *to, struct store **store) {
    const struct upkeep *upkeep = upkeep_of(driver_of(target));
    return upkeep ? upkeep->migrate(target, from, to, store) : driver_refuse(target, store);
}

enum store_result store_backup(struct store *store, const char *path) {
    return upkeep_of(store->driver)->backup(store, path);
}

enum store_result store_restore(const char *target, const char *file,
                                struct store_restoration *restoration, struct store **store) {
    const struct upkeep *upkeep = upkeep_of(driver_of(target));
    return upkeep ? upkeep->restore(target, file, restoration, store)
                  : driver_refuse(target, store);
}

void store_list_files(const char *target, struct arena *arena, struct store_file **files,
                      size_t *count) {
    const struct upkeep *upkeep = upkeep_of(driver_of(target));
    struct buffer rows = buffer_in(arena);
    if (upkeep && upkeep->list_files)
        upkeep->list_files(target, arena, &rows);
    *files = buffer_array(&rows, sizeof **files, count);
}

void store_examine(const char *target, struct arena *arena, struct store_finding **findings,
                   size_t *count) {
    const struct upkeep *upkeep = upkeep_of(driver_of(target));
    struct buffer rows = buffer_in(arena);
    if (upkeep && upkeep->examine)
        upkeep->examine(target, arena, &rows);
    *findings = buffer_array(&rows, sizeof **findings, count);
}

enum store_result store_inspect(struct store *store, struct arena *arena, bool is_full,
                                struct store_finding **findings, size_t *count) {
    struct buffer rows = buffer_in(arena);
    enum store_result result = upkeep_of(store->driver)->inspect(store, arena, is_full, &rows);
    *findings = buffer_array(&rows, sizeof **findings, count);
    return result;
}

enum store_result store_admit_reader(struct store *store, struct arena *arena, const char *reader,
                                     const char **role) {
    const struct upkeep *upkeep = upkeep_of(store->driver);
    *role = NULL;
    return upkeep->admit_reader ? upkeep->admit_reader(store, arena, reader, role) : STORE_OK;
}

enum store_result store_inspect_reader(struct store *store, struct arena *arena,
                                       struct store_finding **findings, size_t *count) {
    const struct upkeep *upkeep = upkeep_of(store->driver);
    struct buffer rows = buffer_in(arena);
    enum store_result result =
        upkeep->inspect_reader ? upkeep->inspect_reader(store, arena, &rows) : STORE_OK;
    *findings = buffer_array(&rows, sizeof **findings, count);
    return result;
}

enum store_result store_count_connections(struct store *store,
                                          struct store_connections *connections) {
    const struct upkeep *upkeep = upkeep_of(store->driver);
    *connections = (struct store_connections){0};
    return upkeep->count_connections ? upkeep->count_connections(store, connections) : STORE_OK;
}
