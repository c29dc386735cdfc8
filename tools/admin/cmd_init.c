/* switchboard init */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/keyring.h"
#include "base/target.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/heartbeat.h"
#include "store/upkeep.h"

struct made {
    bool keys, spool, pending;
    int from, to;       /* schema versions; from 0: created */
    const char *reader; /* the role that may read now; NULL: none */
};

/* Creates the key file when there is none, and reads it either way. */
static int ensure_keys(struct invocation *call, bool *created) {
    const char *path = call->config.secret_key_file, *error;
    struct keyring ring;
    *created = keyring_create(path) == 0;
    if (!*created && errno != EEXIST)
        return fail("cannot create the key file %s: %s", path, strerror(errno));
    int failed = keyring_read(path, &call->arena, &ring, &error);
    crypto_wipe(&ring, sizeof ring);
    return failed ? fail("%s", error) : EXIT_DONE;
}

/* Whether couriers of hosts have run on the database. */
static bool is_in_use(struct invocation *call) {
    struct store *store = NULL;
    struct store_heartbeat *hosts;
    size_t count = 0;
    if (store_open(call->config.database, &store) == STORE_OK)
        store_list_heartbeats(store, &call->arena, &hosts, &count);
    store_close(store);
    return count > 0;
}

/* Of several hosts on one database all have the same keys: a new host does not make its own. */
static int check_host(struct invocation *call) {
    const char *path = call->config.secret_key_file;
    if (target_file(call->config.database) || access(path, F_OK) == 0 || !is_in_use(call))
        return EXIT_DONE;
    return fail("the database %s has other hosts, and the key file %s is missing: copy that of "
                "another host to it",
                call->config.database_name, path);
}

static int ensure_directory(const char *what, const char *path, mode_t mode, bool *created) {
    struct stat found;
    *created = mkdir(path, mode) == 0;
    if (!*created && errno != EEXIST)
        return fail("cannot create the %s %s: %s", what, path, strerror(errno));
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode))
        return fail("the %s %s is not a directory", what, path);
    return EXIT_DONE;
}

/* Returns the mode of a new directory that the service writes: the group has the rights that it has
 * in the directory above, whose path is the first `n` bytes. */
static mode_t mode_below(struct invocation *call, const char *path, int n) {
    struct stat above;
    return stat(arena_printf(&call->arena, "%.*s", n, path), &above) == 0
               ? 0700 | (above.st_mode & S_IRWXG)
               : 0700;
}

static int length_above(const char *path) {
    return (int)(strrchr(path, '/') - path) + 1;
}

/* Creates the directories in which the programs change files. Without run_dir events wait for up to
 * one second, and doctor reports that. */
static int ensure_directories(struct invocation *call, struct made *made) {
    const struct config *config = &call->config;
    const char *file = target_file(config->database), *directory;
    bool is_created;
    int status = ensure_directory("spool directory", config->spool_dir, 0770, &made->spool);
    if (status != EXIT_DONE)
        return status;
    mkdir(config->run_dir, mode_below(call, config->run_dir, length_above(config->run_dir)));
    directory = file ? arena_printf(&call->arena, "%.*s", length_above(file) - 1, file) : "";
    if (!*directory)
        return EXIT_DONE;
    return ensure_directory("directory of the database", directory,
                            mode_below(call, directory, length_above(directory)), &is_created);
}

static const char *database_text(struct invocation *call, const struct made *made) {
    const char *file = target_file(call->config.database);
    if (made->from == made->to)
        return arena_printf(&call->arena, "up to date, schema version %d", made->to);
    if (!made->from)
        return arena_printf(&call->arena, "created, schema version %d", made->to);
    if (!file)
        return arena_printf(&call->arena, "migrated from schema version %d to %d", made->from,
                            made->to);
    return arena_printf(&call->arena,
                        "migrated from schema version %d to %d; the copy made before is "
                        "%s.before-v%d",
                        made->from, made->to, file, made->from + 1);
}

static int print(struct invocation *call, const struct made *made) {
    const struct config *config = &call->config;
    struct json_writer json = object_start(call);
    json_write_text(&json, "database", config->database_name);
    json_write_integer(&json, "fromVersion", made->from);
    json_write_integer(&json, "version", made->to);
    json_write_text(&json, "secretKeyFile", config->secret_key_file);
    json_write_bool(&json, "secretKeyCreated", made->keys);
    json_write_text(&json, "spoolDir", config->spool_dir);
    json_write_bool(&json, "spoolCreated", made->spool);
    json_write_text(&json, "pendingDir", config->pending_dir);
    json_write_bool(&json, "pendingCreated", made->pending);
    if (made->reader)
        json_write_text(&json, "reader", made->reader);
    return object_print(
        call, &json,
        "key file %s: %s\nspool directory %s: %s\npending directory %s: %s\ndatabase %s: %s%s%s",
        config->secret_key_file, made->keys ? "created" : "kept", config->spool_dir,
        made->spool ? "created" : "kept", config->pending_dir, made->pending ? "created" : "kept",
        config->database_name, database_text(call, made),
        made->reader ? "\nrole that may read all tables: " : "", made->reader ? made->reader : "");
}

int init_run(struct invocation *call) {
    struct made made;
    int status = check_host(call);
    if (status != EXIT_DONE || (status = ensure_keys(call, &made.keys)) != EXIT_DONE ||
        (status = ensure_directories(call, &made)) != EXIT_DONE)
        return status;
    enum store_result result =
        store_migrate(call->config.database, &made.from, &made.to, &call->store);
    if (result == STORE_OK)
        result = store_admit_reader(call->store, &call->arena, call->config.reader, &made.reader);
    if (result != STORE_OK)
        return fail_store(call, result);
    status = ensure_directory("pending directory", call->config.pending_dir, 0770, &made.pending);
    return status == EXIT_DONE ? print(call, &made) : status;
}
