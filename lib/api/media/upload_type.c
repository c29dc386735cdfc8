/* The type of an uploaded file, detected if need be: only programs that call upload_type link what
 * detects types. */
#include <unistd.h>

#include "api/media/mime_detect.h"
#include "api/media/upload.h"

/* Reads the beginning of the file. upload_read returns these bytes too. */
static struct slice look_ahead(struct upload *upload) {
    size_t n = 0, room = upload->size < MIME_DETECT_SIZE ? (size_t)upload->size : MIME_DETECT_SIZE;
    char *bytes = arena_alloc(upload->rq->arena, room);
    ssize_t got = 1;
    for (; n < room && got > 0; n += got > 0 ? (size_t)got : 0)
        got = upload->spool >= 0 ? pread(upload->spool, bytes + n, room - n, (off_t)n)
                                 : request_read_body(upload->rq, bytes + n, room - n);
    if (upload->spool < 0)
        upload->seen = (struct slice){bytes, n};
    return (struct slice){bytes, n};
}

const char *upload_type(struct upload *upload) {
    struct arena *arena = upload->rq->arena;
    const char *type;
    if (upload_stated_type(upload, &type))
        return NULL;
    return type ? type
                : mime_detect(arena, look_ahead(upload), upload->name,
                              upload->rq->config->magic_file);
}
