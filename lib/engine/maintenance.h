/* What only the CLI needs of each kind of database: backup, restoration, inspection, migration. The
 * functions are called by store/upkeep.h. */
#ifndef SWITCHBOARD_ENGINE_MAINTENANCE_H
#define SWITCHBOARD_ENGINE_MAINTENANCE_H

#include "engine/driver.h"

/* Limits beyond which the operator must act. */
enum {
    DISK_NONE_MIB = 64, /* with less free space the gateway soon cannot store anything */
};

struct store_restoration {
    /* Set by the caller: asked about the checked backup, before anything is changed; false: stop.
     * NULL: any backup is accepted. */
    bool (*accept)(struct store *backup, void *context);
    void *context;
    bool is_refused; /* by `accept` */
    int version;     /* the schema version of the restored content */
    bool is_older;   /* older than this program's: it must be migrated */
    bool has_former; /* there was a database, which was copied to `target.before-restore` */
};

/* A file or directory that the programs use for the database. */
struct store_file {
    const char *path;
    int access;          /* the needed rights, as for access(2) */
    bool may_be_missing; /* it is created when it is needed */
};

/* The result of one check, for the operator. */
struct store_finding {
    enum store_level { FINDING_OK, FINDING_WARNING, FINDING_FAULT } level;
    const char *what, *detail; /* the fixed name of the check; free text */
};

static inline void finding_add(struct buffer *findings, enum store_level level, const char *what,
                               const char *detail) {
    const struct store_finding finding = {level, what, detail};
    buffer_add(findings, &finding, sizeof finding);
}

/* The connections of a server. */
struct store_connections {
    int used, most; /* all, and how many the programs may have; most 0: there is no limit */
    bool is_pooled; /* they are those of a pooler, which many processes share */
};

/* The functions of upkeep.h, and store_migrate. A list is added to the buffer. Those for files, for
 * the role that reads and for connections are NULL for a database without them. */
struct upkeep {
    enum store_result (*migrate)(const char *target, int *from, int *to, struct store **store);
    enum store_result (*admit_reader)(struct store *store, struct arena *arena, const char *reader,
                                      const char **role);
    enum store_result (*backup)(struct store *store, const char *path);
    enum store_result (*restore)(const char *target, const char *file,
                                 struct store_restoration *restoration, struct store **store);
    void (*list_files)(const char *target, struct arena *arena, struct buffer *files);
    void (*examine)(const char *target, struct arena *arena, struct buffer *findings);
    enum store_result (*inspect)(struct store *store, struct arena *arena, bool is_full,
                                 struct buffer *findings);
    enum store_result (*inspect_reader)(struct store *store, struct arena *arena,
                                        struct buffer *findings);
    enum store_result (*count_connections)(struct store *store,
                                           struct store_connections *connections);
};

extern const struct upkeep sqlite_upkeep;

#endif
