/* switchboard archive: the files of media_archive against the rows that name them. They differ
 * after a backup was restored, or a disk was lost. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/media_file.h"
#include "command.h"
#include "nouns.h"
#include "output.h"

enum { ROWS_AT_ONCE = 500, MEMORY = 16 * 1024 * 1024 };

struct comparison {
    struct invocation *call;
    bool repairs;
    const char *path; /* of the file that is being visited */
    long long files, unknown, missing;
    enum store_result result;
    int error; /* of a file that cannot be removed */
};

static bool remove_file(void *context) {
    struct comparison *c = context;
    const bool done = unlink(c->path) == 0 || errno == ENOENT;
    c->error = done ? c->error : errno;
    return done;
}

static bool visit(void *context, const struct store_media_copy *file, const char *path) {
    struct comparison *c = context;
    struct store *store = c->call->store;
    bool is_dropped = false;
    c->path = path;
    c->files++;
    c->result = store_find_media_file(store, file);
    const bool is_unknown = c->result == STORE_NOT_FOUND;
    if (is_unknown)
        c->result =
            c->repairs ? store_drop_media_file(store, file, remove_file, c, &is_dropped) : STORE_OK;
    c->unknown += is_unknown && (is_dropped || !c->repairs);
    return c->result == STORE_OK && !c->error;
}

static void compare_rows(struct comparison *c) {
    char after[ID_SIZE] = "";
    size_t count = ROWS_AT_ONCE;
    struct arena arena;
    arena_init(&arena, MEMORY, NULL);
    while (c->result == STORE_OK && count == ROWS_AT_ONCE) {
        struct store_media_copy *rows;
        arena_reset(&arena);
        c->result =
            store_list_kept_media(c->call->store, &arena, after, ROWS_AT_ONCE, &rows, &count);
        for (size_t i = 0; i < count && c->result == STORE_OK; i++) {
            snprintf(after, sizeof after, "%s", rows[i].message_id);
            if (media_file_is_there(c->call->config.media_archive, &rows[i]))
                continue;
            c->missing++;
            if (c->repairs)
                c->result =
                    store_repeat_media_copy(c->call->store, rows[i].message_id, c->call->now);
        }
    }
    arena_free(&arena);
}

static int print(const struct comparison *c) {
    struct json_writer json = object_start(c->call);
    json_write_integer(&json, "files", c->files);
    json_write_integer(&json, "unknownFiles", c->unknown);
    json_write_integer(&json, "missingFiles", c->missing);
    json_write_bool(&json, "isRepaired", c->repairs);
    const int status =
        object_print(c->call, &json, "%lld files: %lld of no message%s, %lld missing%s", c->files,
                     c->unknown, c->repairs ? " were removed" : "", c->missing,
                     c->repairs ? ", which are copied again" : "");
    return status == EXIT_DONE && !c->repairs && (c->unknown || c->missing) ? EXIT_FAILED : status;
}

static int run(struct invocation *call, bool repairs) {
    struct comparison c = {.call = call, .repairs = repairs};
    const char *archive = call->config.media_archive;
    if (!*archive)
        return fail("media_archive is not set");
    if (!media_walk(archive, visit, &c))
        return fail("%s: %s", archive, strerror(errno));
    if (c.error)
        return fail("%s: %s", c.path, strerror(c.error));
    /* an archive that is not mounted looks like one that was lost */
    if (repairs && !c.files)
        return fail("%s has no file: is it mounted? If its files are lost, repeat the command "
                    "after the sender has copied an attachment",
                    archive);
    if (c.result == STORE_OK)
        compare_rows(&c);
    return c.result == STORE_OK ? print(&c) : fail_store(call, c.result);
}

int archive_check(struct invocation *call) {
    return run(call, false);
}

int archive_repair(struct invocation *call) {
    return run(call, true);
}
