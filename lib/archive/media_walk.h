/* A walk through all files of the archive of media (media_file.h). */
#ifndef SWITCHBOARD_MEDIA_WALK_H
#define SWITCHBOARD_MEDIA_WALK_H

#include "store/media_copy.h"

/* A file: its user_id and month, and its sha256, or the message_id of an unfinished one. */
typedef bool media_visit(void *context, const struct store_media_copy *file, const char *path);

/* Calls `visit`, which may remove the file, for each file of the archive's form until it returns
 * false. What has another form is left alone. False with errno when a directory cannot be read. */
bool media_walk(const char *archive, media_visit *visit, void *context);

#endif
