/* Files of the archive of media in the directory of an export, under names of their own. Each is
 * written to NAME.part and compared with the SHA-256 of its row; it gets its name once all of it is
 * on the disk. So an export that broke off can be repeated: what is there is not copied again. */
#ifndef SWITCHBOARD_MEDIA_EXPORT_H
#define SWITCHBOARD_MEDIA_EXPORT_H

#include "base/arena.h"
#include "store/media_copy.h"

enum { MEDIA_EXPORT_NAME_SIZE = 96, MEDIA_EXPORT_SEEN = 1024 };

struct media_export {
    const char *archive;
    int directory; /* -1: it is not open */
    int error;     /* errno of the directory; 0: none */
    /* internal */
    struct arena arena;
    char (*seen)[MEDIA_EXPORT_NAME_SIZE]; /* some files that this run has written or compared */
};

/* Opens the directory, and makes it if it is not there. False with `error`. */
bool media_export_open(struct media_export *export, const char *archive, const char *directory);
void media_export_close(struct media_export *export);

/* Writes the file of the row. Returns NULL when it is there, else why it is missing; also NULL with
 * `error` when the directory cannot be written. */
const char *media_export_write(struct media_export *export, const struct store_media_copy *row,
                               const char *name);

#endif
