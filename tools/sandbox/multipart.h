/* multipart/form-data as a stream (RFC 7578, RFC 2046 5.1): strict, and never holding more than a
 * header block or a delimiter's length of the body. */
#ifndef SANDBOX_MULTIPART_H
#define SANDBOX_MULTIPART_H

#include "bytes.h"

enum { PART_HEADERS_MAX = 64 << 10, BOUNDARY_MAX = 70 };

struct multipart_events {
    /* A part begins; its header block without the empty line. */
    void (*begin)(void *cls, const char *headers, size_t length);
    void (*data)(void *cls, const char *data, size_t length);
    void (*end)(void *cls);
};

enum multipart_state { MULTIPART_PREAMBLE, MULTIPART_HEADERS, MULTIPART_BODY, MULTIPART_DONE };

struct multipart {
    const struct multipart_events *events;
    void *cls;
    char delimiter[BOUNDARY_MAX + 5]; /* CRLF, two dashes, boundary */
    size_t delimiter_length;
    enum multipart_state state;
    struct bytes pending;
    const char *problem; /* why the body is no multipart, or NULL */
};

/* Starts with the Content-Type of the request; problem is set when it gives no boundary. */
void multipart_start(struct multipart *multipart, const char *content_type,
                     const struct multipart_events *events, void *cls);
void multipart_feed(struct multipart *multipart, const char *data, size_t length);

/* The body is over: NULL, or what was wrong with it. */
const char *multipart_finish(const struct multipart *multipart);
void multipart_release(struct multipart *multipart);

/* Header `name` of a part's block as a heap string, or NULL; and a parameter of a header's value
 * (quoted or not), or NULL. The caller frees. */
char *part_header(const char *headers, const char *name);
char *header_parameter(const char *value, const char *name);

#endif
