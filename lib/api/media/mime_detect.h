/* Detecting the MIME type of a file (payload/mime.h) from its content. */
#ifndef SWITCHBOARD_MIME_DETECT_H
#define SWITCHBOARD_MIME_DETECT_H

#include "base/arena.h"

/* The bytes at the beginning of a file that mime_detect needs; fewer for a shorter file. */
enum { MIME_DETECT_SIZE = 64 * 1024 };

/* Returns the type of a file that begins with `head`, detected by libmagic, in `arena`. If the
 * content is ambiguous (a .docx is a zip archive), the extension of `name` decides.
 * `database` is the configuration's magic_file. application/octet-stream when no type is detected.
 * Takes about 15 ms, in a child process, because the content may be hostile and libmagic's tables
 * are large. */
const char *mime_detect(struct arena *arena, struct slice head, const char *name,
                        const char *database);

#endif
