/* The courier's configuration, keys and database. Each of them may be missing, invalid or replaced
 * while the courier runs. */
#ifndef SWITCHBOARD_DELIVERY_RESOURCES_H
#define SWITCHBOARD_DELIVERY_RESOURCES_H

#include <sys/stat.h>

#include "base/config.h"
#include "base/keyring.h"
#include "store/store.h"

struct resources {
    const char *config_path;
    unsigned needs;         /* those that the process is confined to (confine.h); 0: not yet */
    struct arena arenas[2]; /* memory of the configuration in use and of the next one */
    struct config config;
    struct store *store;
    struct keyring keys;
    char key_names[KEYRING_NAMES_SIZE]; /* of the key file, when it was last read */
    struct stat keys_file;
    int64_t keys_logged_at;           /* last log of a failure; monotonic; 0: never */
    int64_t retry_at;                 /* the database is not used before; monotonic */
    enum store_result failure;        /* of the last use of the database; STORE_OK: none */
    int64_t failing_since, logged_at; /* monotonic */
};

/* Reads the configuration. Returns 0; or -1 with `*error`, and the present configuration stays in
 * use. In a confined process a configuration that names other files is an error. */
int resources_configure(struct resources *resources, const char **error);

/* Returns the open database; reopens it when its file was replaced. Returns NULL when it cannot be
 * used now, or failed less than a second ago; the reason is logged at most once a minute. */
struct store *resources_store(struct resources *resources);

/* Latches and logs a failure of the database. To be called with the result of every use of it. */
void resources_latch(struct resources *resources, enum store_result result);

/* Returns the keys; reads them again when their file has changed. Returns NULL when they cannot be
 * read. Keys that were removed from the file are retained, since values that were read before the
 * change are still sealed with them. */
const struct keyring *resources_keys(struct resources *resources);

/* Closes the database and wipes the keys. */
void resources_free(struct resources *resources);

#endif
