#include <stdio.h>

#include "engine/driver.h"
#include "engine/schema.h"

/* The edition that the tables of a version have: schema.sql's, or that of a released version. -1:
 * this program does not know the version. */
static int edition_of(int64_t version) {
    if (version == schema_version)
        return schema_edition;
    for (const struct schema_step *step = schema_steps; step->to; step++)
        if (step->to == version + 1)
            return step->edition;
    return -1;
}

static bool is_unreleased(const struct schema_id *found) {
    const int edition = edition_of(found->version);
    return found->version != 0 &&
           (found->edition == SCHEMA_EDITION_NONE || (edition >= 0 && edition != found->edition));
}

const char *schema_refusal(const struct schema_id *found, char *reason, size_t size) {
    if (is_unreleased(found))
        snprintf(reason, size,
                 "it was made by a development version, whose tables differ from those of this "
                 "program, and was not changed: the programs that made it can use it, and move its "
                 "content with `switchboard copy-to`; for this program name another database and "
                 "run `switchboard init`");
    else if (found->version > schema_version)
        snprintf(reason, size,
                 "it has schema version %d, made by a newer program; this one supports %d",
                 (int)found->version, schema_version);
    else
        return NULL;
    return reason;
}

const char *schema_mismatch(const struct schema_id *found, char *reason, size_t size) {
    const char *refusal = schema_refusal(found, reason, size);
    if (refusal || found->version == schema_version)
        return refusal;
    snprintf(reason, size,
             "it has schema version %d, this program needs %d: run `switchboard init`",
             (int)found->version, schema_version);
    return reason;
}

enum store_result schema_check(struct store *store, const struct schema_id *found, bool migrates) {
    char reason[512];
    if (found->version < 0)
        return sql_refuse_moved(store, STORE_UNAVAILABLE, SCHEMA_CLOSED);
    if (migrates ? schema_refusal(found, reason, sizeof reason)
                 : schema_mismatch(found, reason, sizeof reason))
        return sql_refuse(store, STORE_UNAVAILABLE, "%s", reason);
    return STORE_OK;
}

bool schema_run_steps(struct store *store, int64_t version,
                      bool (*run)(struct store *store, const char *sql)) {
    for (const struct schema_step *step = schema_steps; step->to; step++) {
        if (step->to <= version)
            continue;
        for (const char *const *sql = step->sql; *sql; sql++)
            if (!run(store, *sql))
                return false;
        if (step->fill && !step->fill(store))
            return false;
    }
    return true;
}

const struct schema_table *schema_find_table(const char *name) {
    for (size_t i = 0; name && i < SCHEMA_TABLES; i++)
        if (strcmp(schema_tables[i].name, name) == 0)
            return &schema_tables[i];
    return NULL;
}

const char *schema_counters(void) {
    size_t i = 0;
    while (!schema_tables[i].has_counters)
        i++;
    return schema_tables[i].name;
}
