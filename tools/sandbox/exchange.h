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

/* Where the bytes of an answer come from when they are not simply `body`. */
struct source {
    uint64_t length;
    /* Up to `room` bytes at `position` into `out`; how many, or -1. */
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
    STAGE_NEW,     /* nothing looked at yet */
    STAGE_READING, /* the body is coming in */
    STAGE_WAITING, /* answered, but the answer is held back */
    STAGE_DONE     /* answer handed over, or connection given up */
};

struct exchange {
    struct MHD_Connection *connection;
    enum exchange_stage stage;
    bool control;  /* below /_sandbox/ */
    bool complete; /* the whole request was read */
    bool recorded;
    char *target; /* request target as it came */
    char *method;
    char *path;                   /* target without query, still percent-encoded */
    const char *query;            /* what follows '?', or "" */
    char *segments[SEGMENTS_MAX]; /* path, cut at '/' and then decoded */
    size_t segment_count;
    struct bytes body; /* up to BODY_MAX; not kept where it is streamed elsewhere */
    uint64_t body_length;
    crypto_hash_sha256_state digest;
    struct upload *upload; /* streamed multipart body, or NULL */
    cJSON *json;           /* body as checked JSON, or NULL */
    struct fault *fault;   /* the fault that hit this request, or NULL */
    struct reply reply;
};

/* Made from the request target as soon as the request line is known; released at the end. */
struct exchange *exchange_new(const char *target);
void exchange_begin(struct exchange *exchange, struct MHD_Connection *connection,
                    const char *method);
void exchange_free(struct exchange *exchange);

/* Takes in a piece of the body. */
void exchange_read(struct exchange *exchange, const char *data, size_t length);

/* A request header, or a decoded query parameter; NULL when absent. */
const char *exchange_header(const struct exchange *exchange, const char *name);
const char *exchange_parameter(const struct exchange *exchange, const char *name);

/* The token of `Authorization: Bearer <token>`, or NULL. */
const char *exchange_token(const struct exchange *exchange);

/* Path segment i, "" beyond the end. */
const char *exchange_segment(const struct exchange *exchange, size_t i);

/* Drops the answer made so far. */
void reply_clear(struct reply *reply);

/* Adds a header line to the answer. */
void reply_header(struct reply *reply, const char *name, const char *value);

#endif
