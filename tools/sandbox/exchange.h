/* One request and its answer, from the first header line to the last byte sent. */
#ifndef SANDBOX_EXCHANGE_H
#define SANDBOX_EXCHANGE_H

#include "bytes.h"
#include "json.h"

#include <microhttpd.h>
#include <sodium.h>
#include <sys/types.h>

enum { SEGMENTS_MAX = 8, BODY_MAX = 32 << 20 };

struct fault;
struct upload;

/* A source of the bytes of an answer, used instead of `body`. */
struct source {
    uint64_t length;
    /* Writes up to `room` bytes from `position` to `out`. Returns their number, or -1. */
    ssize_t (*read)(void *state, uint64_t position, char *out, size_t room);
    void (*release)(void *state); /* may be NULL */
    void *state;
};

struct reply {
    int status;
    const char *type; /* Content-Type */
    bool unsized;     /* chunked, without Content-Length */
    struct bytes body;
    struct source source; /* used instead of body when read is set */
    struct bytes headers; /* further lines, each `Name: value\n` */
};

enum exchange_stage {
    STAGE_NEW,     /* the headers were not examined yet */
    STAGE_READING, /* the body is coming in */
    STAGE_WAITING, /* the answer is made, but delayed */
    STAGE_DONE     /* the answer was sent, or the connection was closed */
};

struct exchange {
    struct MHD_Connection *connection;
    enum exchange_stage stage;
    bool control;  /* below /_sandbox/ */
    bool complete; /* the whole request was read */
    bool recorded;
    char *target; /* request target as received */
    char *method;
    char *path;                   /* target without query, still percent-encoded */
    const char *query;            /* the text after '?', or "" */
    char *segments[SEGMENTS_MAX]; /* path, split at '/' and then decoded */
    size_t segment_count;
    struct bytes body; /* up to BODY_MAX; empty for a streamed upload */
    uint64_t body_length;
    crypto_hash_sha256_state digest;
    struct upload *upload; /* streamed multipart body, or NULL */
    cJSON *json;           /* body as valid JSON, or NULL */
    struct fault *fault;   /* the fault that applies to this request, or NULL */
    struct reply reply;
};

/* exchange_new makes an exchange from the request target, when the request line is known;
 * exchange_begin adds method and connection, when the headers are; exchange_free frees it. */
struct exchange *exchange_new(const char *target);
void exchange_begin(struct exchange *exchange, struct MHD_Connection *connection,
                    const char *method);
void exchange_free(struct exchange *exchange);

/* Adds a piece of the body, or passes it to the upload. */
void exchange_read(struct exchange *exchange, const char *data, size_t length);

/* Return a request header, or a decoded query parameter; NULL if absent. */
const char *exchange_header(const struct exchange *exchange, const char *name);
const char *exchange_parameter(const struct exchange *exchange, const char *name);

/* The token of `Authorization: Bearer <token>`, or NULL. */
const char *exchange_token(const struct exchange *exchange);

/* Returns path segment i, "" beyond the end. */
const char *exchange_segment(const struct exchange *exchange, size_t i);

/* Discards the answer made so far. */
void reply_clear(struct reply *reply);

/* Adds a header line to the answer. */
void reply_header(struct reply *reply, const char *name, const char *value);

#endif
