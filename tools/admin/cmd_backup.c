/* switchboard backup, switchboard restore */
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/seal.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/event_body.h"
#include "store/outgoing.h"
#include "store/sealed.h"
#include "store/upkeep.h"

/* Counts the values that no key of the ring opens, and puts the ids of their keys into `ids`. */
static size_t count_closed(struct arena *arena, const struct keyring *ring,
                           const struct store_sealed *values, size_t count, struct buffer *ids) {
    bool is_named[UINT8_MAX + 1] = {false};
    size_t closed = 0;
    for (size_t i = 0; i < count; i++) {
        const struct slice value = values[i].value;
        struct slice secret = seal_open(ring, arena, value, values[i].seal_context);
        const uint8_t id = value.n ? (uint8_t)value.p[0] : 0;
        if (secret.p) {
            crypto_wipe((void *)(uintptr_t)secret.p, secret.n);
            continue;
        }
        if (!is_named[id])
            buffer_printf(ids, "%s%u", ids->n ? ", " : "", id);
        is_named[id] = true;
        closed++;
    }
    return closed;
}

/* When the backup was written; its file may have been copied since with its time. */
static const char *time_of(struct arena *arena, const char *path) {
    struct stat found;
    return stat(path, &found) == 0 ? time_text(arena, (int64_t)found.st_mtime * 1000) : "unknown";
}

/* Whether the key file opens the secrets of the backup: a gateway that cannot open them answers 500
 * to each request that calls the platform. */
static bool has_open_secrets(struct store *backup, struct invocation *call) {
    const char *path = call->operands[0], *key_file = call->config.secret_key_file, *error;
    struct arena *arena = &call->arena;
    struct buffer ids = buffer_in(arena);
    struct keyring ring;
    struct store_sealed *values;
    size_t count;
    if (store_list_sealed(backup, arena, &values, &count) != STORE_OK) {
        fail("the secrets of %s cannot be read: %s", path, store_reason(backup));
        return false;
    }
    if (!count)
        return true;
    if (keyring_read(key_file, arena, &ring, &error) != 0) {
        fail("%s. With --force the backup is restored without a look at its secrets", error);
        return false;
    }
    const size_t closed = count_closed(arena, &ring, values, count, &ids);
    crypto_wipe(&ring, sizeof ring);
    if (closed)
        fail("%zu of %zu secrets of %s, written at %s, do not open with %s; their keys: %s. "
             "Nothing was changed. Insert the lines of the key file of that time at the beginning "
             "of %s and repeat the command; or use --force, and then set the platform tokens and "
             "webhook codes again",
             closed, count, path, time_of(arena, path), key_file,
             arena_copy(arena, buffer_slice(&ids)), key_file);
    return !closed;
}

/* --- queued sends: they may have been sent since the backup --- */

/* A restoration, whose backup is copied if sends wait in it. */
struct restoring {
    struct invocation *call;
    const char *copy; /* the path of the copy */
    bool is_copied;
};

/* Copies a backup in which sends wait: the sends of the copy are held before a sender sees them. An
 * older schema has none. */
static bool copy_if_waiting(struct store *backup, struct restoring *restoring) {
    bool waits = false;
    if (store_has_waiting_outgoing(backup, &waits) != STORE_OK || !waits)
        return true;
    restoring->is_copied = store_backup(backup, restoring->copy) == STORE_OK;
    if (!restoring->is_copied)
        fail("the backup cannot be copied to hold its queued sends: %s", store_reason(backup));
    return false;
}

static bool accept(struct store *backup, void *context) {
    struct restoring *restoring = context;
    return (restoring->call->options[OPTION_FORCE] || has_open_secrets(backup, restoring->call)) &&
           copy_if_waiting(backup, restoring);
}

static enum store_result hold_copy(struct restoring *restoring) {
    struct store *copy;
    size_t held = 1;
    enum store_result result = store_open(restoring->copy, &copy);
    while (result == STORE_OK && held)
        result = store_hold_outgoing(copy, clock_now(), event_body, &held);
    if (result != STORE_OK)
        fail("the queued sends of the backup cannot be held: %s", store_reason(copy));
    store_close(copy);
    return result;
}

/* Restores the backup, or the copy whose sends are held. */
static enum store_result restore(struct invocation *call, struct store_restoration *done) {
    struct restoring restoring = {
        .call = call,
        .copy = arena_printf(&call->arena, "%s.restoring", call->config.database_name)};
    *done = (struct store_restoration){.accept = accept, .context = &restoring};
    enum store_result result =
        store_restore(call->config.database, call->operands[0], done, &call->store);
    if (!restoring.is_copied)
        return result;
    store_close(call->store);
    call->store = NULL;
    *done = (struct store_restoration){.accept = NULL};
    if (hold_copy(&restoring) == STORE_OK)
        result = store_restore(call->config.database, restoring.copy, done, &call->store);
    else
        done->is_refused = true;
    unlink(restoring.copy);
    return result;
}

int restore_run(struct invocation *call) {
    const char *path = call->operands[0], *database = call->config.database_name;
    struct store_restoration done;
    enum store_result result = restore(call, &done);
    if (done.is_refused)
        return EXIT_FAILED;
    if (result == STORE_CONFLICT || result == STORE_NOT_FOUND)
        return fail("%s", store_reason(call->store));
    if (result != STORE_OK)
        return fail_store(call, result);
    const char *kept =
        done.has_former ? arena_printf(&call->arena, "%s.before-restore", database) : NULL;
    struct json_writer json = object_start(call);
    json_write_text(&json, "database", database);
    json_write_text(&json, "file", path);
    json_write_text(&json, "formerDatabase", kept);
    json_write_integer(&json, "version", done.version);
    return object_print(
        call, &json, "%s now has the content of %s%s%s%s%s", database, path,
        kept ? "; its former content is in " : "", kept ? kept : "",
        done.is_older ? "\nIts schema version is older: run `switchboard init` now" : "",
        *call->config.media_archive
            ? "\nmedia_archive may differ from it now: see `switchboard archive check`"
            : "");
}

/* --- backup --- */

int backup_run(struct invocation *call) {
    const char *path = call->operands[0];
    struct stat copy = {0};
    enum store_result result = store_backup(call->store, path);
    if (result == STORE_CONFLICT)
        return fail("%s; a backup never overwrites a file", store_reason(call->store));
    if (result != STORE_OK)
        return fail_store(call, result);
    stat(path, &copy);
    struct json_writer json = object_start(call);
    json_write_text(&json, "database", call->config.database_name);
    json_write_text(&json, "file", path);
    json_write_integer(&json, "bytes", copy.st_size);
    return object_print(call, &json, "%s: %lld bytes, checked", path, (long long)copy.st_size);
}
