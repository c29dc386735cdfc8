/* What a courier works with all its life: configuration, keys, database. Each may be missing or
 * broken for a while, and be another one later; the courier goes on. */
#ifndef SWITCHBOARD_DELIVERY_RESOURCES_H
#define SWITCHBOARD_DELIVERY_RESOURCES_H

#include <sys/stat.h>

#include "base/config.h"
#include "base/keyring.h"
#include "store/store.h"

struct resources {
    const char *config_path;
    bool is_confined; /* to the files of the configuration: confine.h */
    struct arena arenas[2]; /* of the configuration in use, and of the next one */
    struct config config;
    struct store *store;
    struct keyring keys;
    struct stat keys_file;
    int64_t keys_complained_at;           /* monotonic; 0: never */
    int64_t retry_at;                     /* monotonic: the database is left alone until then */
    enum store_result trouble;            /* what was the matter with the database last */
    int64_t trouble_since, complained_at; /* monotonic */
};

/* Reads the configuration. Returns 0, or -1 with `*error`; then the one in use stays in use. One that
 * names other files is an error for a confined process. */
int resources_configure(struct resources *resources, const char **error);

/* The open database, reopened when its file is another one. NULL when it cannot be used now, or
 * failed less than a second ago; the log says why, now and then. */
struct store *resources_store(struct resources *resources);

/* To be told how every use of the database ended. */
void resources_note(struct resources *resources, enum store_result result);

/* The keys, read again when their file is another one; NULL when they cannot be read. Keys that
 * left the file still open what was read from the database before they did. */
const struct keyring *resources_keys(struct resources *resources);

void resources_free(struct resources *resources);

#endif
