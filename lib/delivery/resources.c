#include "delivery/resources.h"

#include "base/clock.h"
#include "base/crypto.h"
#include "base/file_identity.h"
#include "base/log.h"
#include "store/housekeeping.h"

enum {
    CONFIG_LIMIT = 4 * 1024 * 1024,
    LOCK_TIMEOUT_MS = 1000,   /* short, because no transfer advances during it */
    RETRY_MS = 1000,          /* after a failure of the database */
    LOG_AGAIN_MS = 60 * 1000, /* between two logs of the same failure */
};

/* Whether `next` names another file than the present configuration, to which the process is
 * confined. */
static bool names_other_files(const struct resources *resources, const struct config *next,
                              struct arena *arena) {
    return strcmp(config_paths(next, resources->needs, arena),
                  config_paths(&resources->config, resources->needs, arena)) != 0;
}

int resources_configure(struct resources *resources, const char **error) {
    struct arena *next = &resources->arenas[1];
    struct config config;
    if (!next->cap)
        arena_init(next, CONFIG_LIMIT, NULL);
    arena_reset(next);
    if (config_read(resources->config_path, next, &config, error))
        return -1;
    if (resources->needs && names_other_files(resources, &config, next)) {
        *error = "it names other files than those which this process is confined to: restart it";
        return -1;
    }
    struct arena used = resources->arenas[0];
    resources->arenas[0] = *next;
    resources->arenas[1] = used;
    resources->config = config;
    log_to(config.log_file);
    log_host(config_log_host(&config));
    log_reopen(); /* creates the file again after log rotation */
    return 0;
}

static void close_store(struct resources *resources) {
    store_close(resources->store);
    resources->store = NULL;
}

/* A database that is busy or full need not be reopened. */
static bool is_passing(enum store_result result) {
    return result == STORE_BUSY || result == STORE_FULL;
}

void resources_latch(struct resources *resources, enum store_result result) {
    int64_t now = clock_monotonic();
    if (result == STORE_OK) {
        if (resources->failure != STORE_OK)
            log_message(LOG_INFO, "the database can be used again");
        resources->failure = STORE_OK;
        return;
    }
    if (resources->failure == STORE_OK)
        resources->failing_since = now;
    if (resources->failure != result || now - resources->logged_at >= LOG_AGAIN_MS) {
        log_message(LOG_ERROR, "database %s: %s", resources->config.database_name,
                    store_reason(resources->store));
        resources->logged_at = now;
    }
    resources->failure = result;
    resources->retry_at = now + RETRY_MS;
    if (!is_passing(result))
        close_store(resources);
}

struct store *resources_store(struct resources *resources) {
    const struct config *config = &resources->config;
    if (resources->failure != STORE_OK && clock_monotonic() < resources->retry_at)
        return NULL;
    if (resources->store && store_is_alive(resources->store, config->database))
        return resources->store;
    close_store(resources);
    enum store_result result = store_open(config->database, &resources->store);
    if (result == STORE_OK)
        result = store_set_lock_timeout(resources->store, LOCK_TIMEOUT_MS);
    if (result != STORE_OK) {
        resources_latch(resources, result);
        close_store(resources);
    }
    return resources->store;
}

const struct keyring *resources_keys(struct resources *resources) {
    const char *path = resources->config.secret_key_file, *error = NULL;
    struct arena arena;
    struct stat file = {0};
    bool is_there = stat(path, &file) == 0;
    if (is_there && resources->keys.count && file_is_unchanged(&resources->keys_file, &file))
        return &resources->keys;
    arena_init(&arena, 64 * 1024, NULL);
    struct keyring before = resources->keys;
    int failed = keyring_read(path, &arena, &resources->keys, &error);
    keyring_names(&resources->keys, resources->key_names);
    if (!failed)
        keyring_retain(&resources->keys, &before);
    crypto_wipe(&before, sizeof before);
    int64_t now = clock_monotonic(), logged_at = resources->keys_logged_at;
    if (failed && (!logged_at || now - logged_at >= LOG_AGAIN_MS)) {
        log_message(LOG_ERROR, "%s", error);
        resources->keys_logged_at = now;
    }
    arena_free(&arena);
    resources->keys_file = file;
    if (failed)
        resources->keys.count = 0;
    return failed ? NULL : &resources->keys;
}

void resources_free(struct resources *resources) {
    close_store(resources);
    arena_free(&resources->arenas[0]);
    arena_free(&resources->arenas[1]);
    crypto_wipe(&resources->keys, sizeof resources->keys);
}
