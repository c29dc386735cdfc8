/* A reader of multipart/form-data (RFC 7578, RFC 2046 5.1) that holds only a window of the body in
 * memory:
 *
 *     while ((more = multipart_next(&form, &part)) > 0)
 *         while ((more = multipart_read(&form, &bytes)) > 0)
 *             ...
 *
 * It is strict: lines end with CR LF, never LF alone; a boundary is followed by a line end or the
 * closing `--`; the closing boundary is required; every part is form-data with a name. Bytes before
 * the first boundary and after the closing one are ignored (RFC 2046 5.1.1).
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
    const char *filename; /* NULL: none. filename* (RFC 8187) is preferred to filename; the latter
                             is as sent and may be invalid UTF-8 */
    const char *type;     /* Content-Type with its parameters; NULL: none */
    int64_t length;       /* the part's Content-Length; -1: none */
};

struct multipart {
    struct arena *arena;
    ssize_t (*read)(void *context, void *bytes, size_t n);
    void *context;
    const char *error; /* a sentence for the client, after a call has returned -1; NULL when `read`
                          failed */
    char delimiter[4 + 70 + 1]; /* CR LF -- boundary */
    size_t delimiter_length;
    char *window;
    size_t from, to; /* the bytes of the window that are not returned yet */
    size_t parts;
    enum { MULTIPART_BEFORE_PART, MULTIPART_IN_PART, MULTIPART_ENDED, MULTIPART_FAILED } state;
};

/* Whether the Content-Type is multipart/form-data; false for NULL. */
bool multipart_is(const char *content_type);

/* Begins to read a body of this Content-Type. `read` reads up to `n` bytes of the body and returns
 * their number, 0 at the end, or -1; it gets `context`. Returns 0, or -1 with `error` when the
 * Content-Type has no boundary of 1 to 70 allowed characters (RFC 2046 5.1.1), or two. The window
 * and all strings live in `arena`. */
int multipart_start(struct multipart *form, struct arena *arena, const char *content_type,
                    ssize_t (*read)(void *context, void *bytes, size_t n), void *context);

/* The function `read` of a body in memory; the context is a struct slice with the rest of it. */
ssize_t multipart_from_slice(void *context, void *bytes, size_t n);

/* Skips the rest of the current part and reads the header of the next. Returns 1 with the part, 0
 * after the closing boundary, or -1 with `error`. */
int multipart_next(struct multipart *form, struct part *part);

/* Reads the next bytes of the part; they are in the window and valid until the next call. Returns 1
 * with the bytes, 0 at the end of the part, or -1 with `error`. */
int multipart_read(struct multipart *form, struct slice *bytes);

#endif
