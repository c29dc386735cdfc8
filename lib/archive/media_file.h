/* The files of the archive of media: DIR/USER/yyyy/mm/SHA256, and MESSAGE.part beside them while
 * one is written. */
#ifndef SWITCHBOARD_MEDIA_FILE_H
#define SWITCHBOARD_MEDIA_FILE_H

#include "base/id.h"
#include "store/media_copy.h"

/* Whether more than a tenth of the disk is free, with `*error` 0; else errno, or 0 for a full disk.
 */
bool media_file_has_room(const char *archive, int *error);

/* Makes the directories and an empty file for the copy of a row, instead of one that another
 * process left. Returns its descriptor, or -1 with errno. */
int media_file_begin(const char *archive, const struct store_media_copy *row);

/* Gives the file, which is synchronized, its name. Also true if it has it already. */
bool media_file_place(const char *archive, const struct store_media_copy *row, int file);

/* Closes the file; if it has not got its name, removes it. */
void media_file_end(const char *archive, const struct store_media_copy *row, int file);

/* Removes an unfinished file of the row, which a process that was killed left. */
void media_file_drop(const char *archive, const struct store_media_copy *row);

/* Removes what there is of the row: an unfinished file, and the file unless it is shared. False
 * with errno when a file remains. */
bool media_file_remove(const char *archive, const struct store_media_copy *row, bool is_shared);

/* Opens the file for reading. Returns its descriptor and size, or -1. */
int media_file_open(const char *archive, const struct store_media_copy *row, int64_t *size);

/* Whether the file is there, with the size of its copy. */
bool media_file_is_there(const char *archive, const struct store_media_copy *row);

/* A file: its user_id and month, and its sha256, or the message_id of an unfinished one. */
typedef bool media_visit(void *context, const struct store_media_copy *file, const char *path);

/* Calls `visit`, which may remove the file, for each file of the archive's form until it returns
 * false. What has another form is left alone. False with errno when a directory cannot be read. */
bool media_walk(const char *archive, media_visit *visit, void *context);

/* A look at some copies of the archive of media, of any size of the database: at all of a small
 * archive, else at the oldest and at those of random moments. */
struct media_sample {
    int64_t seen, missing;    /* copies; those whose file is not there or has another size */
    bool is_whole;            /* all copies were looked at */
    char message_id[ID_SIZE]; /* of the first missing file, if there is one */
};

enum store_result media_sample_take(struct store *store, const char *archive, int64_t now,
                                    struct media_sample *sample);

#endif
