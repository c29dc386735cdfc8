/* A strict stream parser of multipart/form-data (RFC 7578, RFC 2046 5.1), written for the sandbox
 * alone. It holds at most a header block, or as many bytes of the body as a delimiter has. */
#ifndef SANDBOX_MULTIPART_STREAM_H
#define SANDBOX_MULTIPART_STREAM_H

#include "base/buffer.h"

enum { PART_HEADERS_MAX = 64 << 10, BOUNDARY_MAX = 70 };

/* What the parser calls, with the `cls` of multipart_start. The texts are valid during the call. */
struct multipart_events {
    /* A part begins; `headers` is its header block without the empty line. */
    void (*begin)(void *cls, const char *headers);
    /* A piece of the part's content. */
    void (*data)(void *cls, struct slice piece);
    /* The part ends. */
    void (*end)(void *cls);
};

enum multipart_state { MULTIPART_PREAMBLE, MULTIPART_HEADERS, MULTIPART_BODY, MULTIPART_DONE };

struct multipart {
    const struct multipart_events *events;
    void *cls;
    char delimiter[BOUNDARY_MAX + 5]; /* CRLF, two dashes, boundary */
    size_t delimiter_length;
    enum multipart_state state;
    struct buffer pending;
    const char *problem; /* the error in the body, static, or NULL */
};

/* Starts a body with the Content-Type of its request (NULL: it has none); sets `problem` when that
 * has no boundary. The parser allocates from `arena`. */
void multipart_start(struct multipart *multipart, struct arena *arena, const char *content_type,
                     const struct multipart_events *events, void *cls);

/* Parses the next piece of the body; after an error or the end does nothing. */
void multipart_feed(struct multipart *multipart, struct slice piece);

/* Ends the body. Returns NULL, or the error in it as a static text. */
const char *multipart_finish(const struct multipart *multipart);

/* Returns the value of header `name` in a part's header block, in `arena`; NULL when it is
 * absent. */
const char *part_header(struct arena *arena, const char *headers, const char *name);

/* Returns parameter `name` of a header's value (or of NULL), quoted or not, in `arena`; NULL when
 * it is absent. */
const char *header_parameter(struct arena *arena, const char *value, const char *name);

#endif
