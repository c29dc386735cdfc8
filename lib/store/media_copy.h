/* The queue of the archive of media: the file of a message is copied once, by the sender
 * that has the lease (outgoing.h), into the file USER/MONTH/SHA256 of `media_archive`.
 *
 *     queued  -> done     the file is there, or that of another row with the same content
 *     queued  -> gone     the platform does not know the media any more
 *     queued  -> failed   the file is too large, or was not copied within MEDIA_COPY_DAYS
 *     any     -> removed  the message was deleted; the row goes when its file has gone
 */
#ifndef SWITCHBOARD_STORE_MEDIA_COPY_H
#define SWITCHBOARD_STORE_MEDIA_COPY_H

#include "store/store.h"

enum {
    MEDIA_COPY_DAYS = 7, /* the platform keeps media that a person sent as long */
    MEDIA_MONTH_SIZE = 8,
};

struct store_media_copy {
    const char *message_id, *user_id, *account_id, *media_id, *month;
    const char *sha256; /* hexadecimal; NULL: not known yet */
    const char *type;   /* NULL: not known */
    int64_t size;       /* bytes; -1: there is no copy */
    int64_t attempts, created_at;
    bool is_removed;
    struct slice sealed_token; /* of the account; p NULL: it has none */
};

/* Lists rows with something to do now: copies to make, and files to remove. */
enum store_result store_list_media_copies(struct store *store, struct arena *arena, int64_t now,
                                          size_t limit, struct store_media_copy **rows,
                                          size_t *count);

/* A step of the sender `owner` with a row. Each does nothing, and `done` is false, when the owner
 * has the lease no more or the row is not in its state any more. */
struct media_copy_step {
    const char *owner;
    const struct store_media_copy *row;
    int64_t now;
    bool done;
};

/* Finds the file of another row of the user with the same content; STORE_NOT_FOUND: there is none.
 * `month` is that of the file. */
enum store_result store_find_same_media(struct store *store, const struct store_media_copy *row,
                                        char month[MEDIA_MONTH_SIZE]);

/* Counts an attempt. */
enum store_result store_begin_media_copy(struct store *store, struct media_copy_step *step);

/* Names the file that will be made: `row->month`, `row->sha256` and `row->type`. So a removal finds
 * it, whatever happens next. */
enum store_result store_name_media_copy(struct store *store, struct media_copy_step *step);

/* Makes the row done. `place` puts the file where it belongs, within the transaction; it may be
 * called again, and returns false to leave the row as it is. */
enum store_result store_place_media_copy(struct store *store, struct media_copy_step *step,
                                         bool (*place)(void *context), void *context);

/* The row is tried again at `next_at`; or ends in `state`, gone or failed, if that is not NULL. */
enum store_result store_delay_media_copy(struct store *store, struct media_copy_step *step,
                                         const char *state, int64_t next_at);

/* Deletes a removed row, after `remove` has removed the file, within the transaction; `is_shared`:
 * another row names it, and it stays. */
enum store_result store_remove_media_copy(struct store *store, struct media_copy_step *step,
                                          bool (*remove)(void *context, bool is_shared),
                                          void *context);

/* Finds the copy of the account's media; STORE_NOT_FOUND: there is none. */
enum store_result store_find_media_copy(struct store *store, struct arena *arena,
                                        const char *account_id, const char *media_id,
                                        struct store_media_copy *copy);

/* --- the check of the archive: files without a row, and rows without their file --- */

/* Lists the rows with a copy after the one of `after`, a message's id, in their order. */
enum store_result store_list_kept_media(struct store *store, struct arena *arena, const char *after,
                                        size_t limit, struct store_media_copy **rows,
                                        size_t *count);

/* Whether a row names the file: with `file->sha256` one that has its name, else the unfinished one
 * of `file->message_id`. STORE_NOT_FOUND: none does. */
enum store_result store_find_media_file(struct store *store, const struct store_media_copy *file);

/* Calls `remove` unless a row names the file, within a transaction in which no sender places one.
 * `*done`: `remove` was called, and returned true. */
enum store_result store_drop_media_file(struct store *store, const struct store_media_copy *file,
                                        bool (*remove)(void *context), void *context, bool *done);

/* Queues the copy of a row again whose file is missing. `now`: ms. */
enum store_result store_repeat_media_copy(struct store *store, const char *message_id, int64_t now);

/* --- internal to the store --- */

/* Queues the copy of the file of a message, once. `copy` has what is known of it. */
bool media_copy_queue(struct store *store, const struct store_media_copy *copy, int64_t now);

#endif
