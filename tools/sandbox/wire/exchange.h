/* One request and its answer, from the first header line to the last byte sent. */
#ifndef SANDBOX_EXCHANGE_H
#define SANDBOX_EXCHANGE_H

#include <microhttpd.h>
#include <sys/types.h>

#include <cjson/cJSON.h>

#include "base/buffer.h"
#include "base/crypto.h"

enum { SEGMENTS_MAX = 8, BODY_MAX = 32 << 20 };

struct fault;
struct job;
struct upload;

/* A source of the bytes of an answer, used instead of `body`. */
struct source {
    int64_t length;
    /* Writes up to `room` bytes from `position` to `out`. Returns their number, or -1. */
    ssize_t (*read)(void *state, int64_t position, char *out, size_t room);
    void (*release)(void *state); /* may be NULL */
    void *state;
};

struct reply {
    struct arena *arena; /* of the answer's bytes; it outlives the request while they are sent */
    int status;
    const char *type; /* Content-Type, static; NULL: none, or one of `headers` */
    bool unsized;     /* chunked, without Content-Length */
    struct buffer body;
    struct source source;  /* used instead of body when read is set */
    struct buffer headers; /* further lines, each `Name: value\n` */
};

enum exchange_stage {
    STAGE_NEW,     /* the headers were not examined yet */
    STAGE_READING, /* the body is coming in */
    STAGE_WAITING, /* the answer is made, but delayed */
    STAGE_DONE     /* the answer was sent, or the connection was closed */
};

struct exchange {
    struct arena *arena; /* of all that lives as long as the request, and of the struct itself */
    struct MHD_Connection *connection;
    enum exchange_stage stage;
    bool control;  /* below /_sandbox/ */
    bool complete; /* the whole request was read */
    bool recorded;
    const char *target; /* request target as received */
    const char *method;
    const char *path;  /* target without query, still percent-encoded */
    const char *query; /* the text after '?', or "" */
    /* The path, split at '/' and then decoded: version, node, edge. The first is "" when the path
     * has no version. */
    const char *segments[SEGMENTS_MAX];
    size_t segment_count;
    struct buffer body;  /* up to BODY_MAX; empty for an upload */
    int64_t body_length; /* as received */
    struct crypto_sha256 *digest;
    struct upload *upload;  /* of graph_routes.c: the body goes there; NULL: it goes to `body` */
    struct fault *fault;    /* of server.c: applies to this request; NULL: none */
    struct job *job;        /* of callback_handshake.c: answers the request; NULL: none */
    cJSON *json;            /* of request_body.c: the members of the request, or NULL */
    bool form;              /* they come from a form, in which all values are texts */
    const char *form_token; /* the field access_token of a form, or NULL */
    size_t field_count;     /* of a form and of the query, as far as they were counted */
    struct reply reply;
};

/* Makes an exchange when the request line is received; `target` is copied. */
struct exchange *exchange_new(const char *target);

/* Adds connection and method when the headers are received. */
void exchange_begin(struct exchange *exchange, struct MHD_Connection *connection,
                    const char *method);

/* Frees the exchange. Upload and fault are their owners' to free before. */
void exchange_free(struct exchange *exchange);

/* Counts and hashes a piece of the body. */
void exchange_count(struct exchange *exchange, struct slice piece);

/* Stores a piece of the body, which was counted; beyond BODY_MAX it is dropped. */
void exchange_store(struct exchange *exchange, struct slice piece);

/* Returns the stored body. */
struct slice exchange_body(const struct exchange *exchange);

/* Return a request header, or a decoded query parameter; NULL when it is absent. */
const char *exchange_header(const struct exchange *exchange, const char *name);
const char *exchange_parameter(const struct exchange *exchange, const char *name);

/* Returns the access token: of the header Authorization (scheme Bearer or OAuth), else of the
 * query, else of a form; NULL when there is none. */
const char *exchange_token(const struct exchange *exchange);

/* Whether the request has two access tokens that differ. */
bool exchange_tokens_differ(const struct exchange *exchange);

/* Returns path segment `i`, "" beyond the end. */
const char *exchange_segment(const struct exchange *exchange, size_t i);

/* Discards the answer made so far. */
void reply_clear(struct reply *reply);

/* Adds a header line to the answer. */
void reply_header(struct reply *reply, const char *name, const char *value);

#endif
