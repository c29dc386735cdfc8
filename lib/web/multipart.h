/* A reader of multipart/form-data (RFC 7578, RFC 2046 5.1) that never holds more than a window of
 * the body:
 *
 *     while ((more = multipart_next(&form, &part)) > 0)
 *         while ((more = multipart_read(&form, &bytes)) > 0)
 *             ...
 *
 * It is strict: lines end with CR LF, never LF alone; what follows a boundary is a line end or the
 * closing `--`; the closing boundary must come; every part is form-data with a name. What stands
 * before the first boundary and after the closing one is skipped (RFC 2046 5.1.1).
 */
#ifndef SWITCHBOARD_MULTIPART_H
#define SWITCHBOARD_MULTIPART_H

#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"

enum {
    MULTIPART_MAX_PARTS = 100,
    MULTIPART_MAX_HEADER = 16 * 1024, /* bytes of one part's header lines */
};

/* The header of one part; strings live in the arena of multipart_start. */
struct part {
    const char *name;
    const char *filename; /* NULL: none. filename* (RFC 8187) counts before filename; as it was
                             sent, which may be no UTF-8 */
    const char *type;     /* Content-Type with its parameters; NULL: none */
    int64_t length;       /* what a Content-Length of the part announces; -1: none */
};

struct multipart {
    struct arena *arena;
    ssize_t (*read)(void *context, void *bytes, size_t n);
    void *context;
    const char *error; /* a sentence for the client, once a call has returned -1; NULL when the
                          source failed */
    char delimiter[4 + 70 + 1]; /* CR LF -- boundary */
    size_t delimiter_length;
    char *window;
    size_t from, to; /* the bytes of the window that were not given out yet */
    size_t parts;
    enum { MULTIPART_BEFORE_PART, MULTIPART_IN_PART, MULTIPART_ENDED, MULTIPART_FAILED } state;
};

/* Whether the Content-Type is multipart/form-data; NULL is not. */
bool multipart_is(const char *content_type);

/* Begins to read a body of this Content-Type. `read` gives up to `n` bytes, 0 at the end, or -1.
 * Returns 0, or -1 with `error` when the Content-Type names no boundary of 1 to 70 legal
 * characters (RFC 2046 5.1.1). The window and all strings live in `arena`. */
int multipart_start(struct multipart *form, struct arena *arena, const char *content_type,
                    ssize_t (*read)(void *context, void *bytes, size_t n), void *context);

/* Goes on to the next part, skipping what is left of the one before. Returns 1 with the part, 0
 * after the closing boundary, or -1 with `error`. */
int multipart_next(struct multipart *form, struct part *part);

/* The next bytes of the part, in the window: valid until the next call. Returns 1, 0 at the end of
 * the part, or -1 with `error`. */
int multipart_read(struct multipart *form, struct slice *bytes);

#endif
