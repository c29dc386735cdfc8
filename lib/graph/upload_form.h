/* A multipart form with texts and one file, as the platform takes media and Flow JSON (RFC 7578).
 */
#ifndef SWITCHBOARD_UPLOAD_FORM_H
#define SWITCHBOARD_UPLOAD_FORM_H

#include "base/arena.h"
#include "base/slice.h"

struct upload_form {
    struct slice head, tail; /* the bytes before and after those of the file */
    const char *type;        /* the Content-Type of the form */
};

/* A part before the file. Its bytes are written as they are, so a value from a client must have
 * been checked, as the media type of an upload is. */
struct upload_text {
    const char *name, *value;
};

/* Returns the form; everything in it lives in `arena`. `texts` ends with a NULL name. The file's
 * part is called `file`; `file_name` may have any bytes, `file_type` is a
 * media type that was checked. */
struct upload_form upload_form_make(struct arena *arena, const struct upload_text *texts,
                                    const char *file_name, const char *file_type);

#endif
