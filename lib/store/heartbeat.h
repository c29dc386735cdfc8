/* The heartbeats of resident processes: which couriers run, on which hosts, with which keys. */
#ifndef SWITCHBOARD_STORE_HEARTBEAT_H
#define SWITCHBOARD_STORE_HEARTBEAT_H

#include "store/store.h"

/* The last heartbeat of a process on a host. */
struct store_heartbeat {
    const char *name; /* of the program */
    const char *host;
    int64_t pid, at;
    int64_t ended_at;       /* when the process ended in order; INT64_MAX: it has not */
    const char *keys;       /* of its key file (keyring_names); "": it cannot be read */
    int64_t clock_ahead_ms; /* its host's clock less the database server's */
};

/* Upserts the heartbeat of its name and host: the process runs. */
enum store_result store_upsert_heartbeat(struct store *store,
                                         const struct store_heartbeat *heartbeat);

/* Records that the process ended in order at `at`, unless another process of its name and host has
 * made a heartbeat since its own. `keys` is not used: those of the host stay. */
enum store_result store_end_heartbeat(struct store *store, const struct store_heartbeat *heartbeat);

/* The heartbeats of a program on all hosts together. INT64_MIN: there is none. */
struct store_pulse {
    int64_t last;    /* the last heartbeat */
    int64_t running; /* the last one of a process that has not ended in order */
};

enum store_result store_find_pulse(struct store *store, const char *name,
                                   struct store_pulse *pulse);

enum { HEARTBEAT_SILENT_S = 120 /* since the last heartbeat; a courier makes one every 5 s */ };

/* Whether a process of the program runs on any host, as far as its heartbeats show. */
bool heartbeat_is_running(const struct store_pulse *pulse, int64_t now);

/* Lists the heartbeats of the couriers in the order of their hosts. Each host has one, and its
 * sender uses the same key file. */
enum store_result store_list_heartbeats(struct store *store, struct arena *arena,
                                        struct store_heartbeat **heartbeats, size_t *count);

/* Deletes the heartbeats before `before`: of hosts that are gone. */
enum store_result store_delete_heartbeats(struct store *store, int64_t before, size_t *removed);

#endif
