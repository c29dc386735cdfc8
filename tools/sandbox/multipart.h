/* A strict stream parser of multipart/form-data (RFC 7578, RFC 2046 5.1). It holds at most a header
 * block, or as many bytes of the body as a delimiter has. */
#ifndef SANDBOX_MULTIPART_H
#define SANDBOX_MULTIPART_H

#include "bytes.h"

enum { PART_HEADERS_MAX = 64 << 10, BOUNDARY_MAX = 70 };

struct multipart_events {
    /* Called when a part begins, with its header block without the empty line. */
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
    const char *problem; /* the error in the body, or NULL */
};

/* Starts with the Content-Type of the request; sets problem if it has no boundary. */
void multipart_start(struct multipart *multipart, const char *content_type,
                     const struct multipart_events *events, void *cls);
void multipart_feed(struct multipart *multipart, const char *data, size_t length);

/* Ends the body. Returns NULL, or the error in it. */
const char *multipart_finish(const struct multipart *multipart);
void multipart_release(struct multipart *multipart);

/* Return header `name` of a part's block, or a parameter of a header's value (quoted or not), as a
 * heap string that the caller frees; NULL if absent. */
char *part_header(const char *headers, const char *name);
char *header_parameter(const char *value, const char *name);

#endif
