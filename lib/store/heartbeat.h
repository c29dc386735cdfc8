/* The heartbeats of resident processes: which couriers run, on which hosts, with which keys. */
#ifndef SWITCHBOARD_STORE_HEARTBEAT_H
#define SWITCHBOARD_STORE_HEARTBEAT_H

#include "store/store.h"

/* The last heartbeat of a process on a host. */
struct store_heartbeat {
    const char *name; /* of the program */
    const char *host;
    int64_t pid, at;
    const char *keys;       /* of its key file (keyring_names); "": it cannot be read */
    int64_t clock_ahead_ms; /* its host's clock less the database server's */
};

/* Upserts the heartbeat of its name and host. */
enum store_result store_upsert_heartbeat(struct store *store,
                                         const struct store_heartbeat *heartbeat);

/* Finds the last heartbeat of the program `name` on any host; INT64_MIN: there was none. */
enum store_result store_find_heartbeat(struct store *store, const char *name, int64_t *beat_at);

/* Lists the heartbeats of all hosts in the order of name and host. */
enum store_result store_list_heartbeats(struct store *store, struct arena *arena,
                                        struct store_heartbeat **heartbeats, size_t *count);

/* Deletes the heartbeats before `before`: of hosts that are gone. */
enum store_result store_delete_heartbeats(struct store *store, int64_t before, size_t *removed);

#endif
