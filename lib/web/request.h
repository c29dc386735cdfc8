/* A request, its way through the gateway, and its answer.
 *
 * An executable is a route table and a `main` that serves it. The core chooses the route, lets the
 * route's guard decide who may use it, checks body and query against the declared fields, and only
 * then calls the handler: handlers see valid requests alone. A handler answers with one of the
 * `reply_...` functions, or fails with `fail`. The answer is built whole in memory, written once,
 * and followed by one log line.
 */
#ifndef SWITCHBOARD_REQUEST_H
#define SWITCHBOARD_REQUEST_H

#include <sys/types.h>

#include "base/config.h"
#include "base/confine.h"
#include "web/field.h"

struct request;
struct caller; /* who asks: known to the guards (auth.h), not to the web core */

/* What protects a route. Each step returns 0 or fails; NULL steps are left out. */
struct guard {
    /* needs no body: token, plan (spec 5.5); again behind a body that came slowly. Nothing may be
     * held when it returns that others wait for, if the route takes a body. */
    int (*before_body)(struct request *rq);
    int (*before_fields)(struct request *rq); /* after the JSON was read: ownership (spec 5.6) */
    void (*after)(struct request *rq); /* in any case, before the answer is written; NULL too */
    bool wants_token;                  /* a 401 says so (RFC 9110 15.5.2) */
};

/* How a route takes its body. */
enum body {
    BODY_NONE,   /* dropped unread */
    BODY_JSON,   /* a JSON object of at most 2 MB, checked against `fields` */
    BODY_RAW,    /* kept as bytes, at most `body_limit` */
    BODY_STREAM, /* left to the handler: request_read_body */
};

struct route {
    const char *method;
    const char *path; /* segments; `:name` stands for any one segment */
    const struct guard *guard; /* NULL: public */
    int (*handle)(struct request *rq);
    const struct field *query; /* NULL: no query parameter is looked at */
    enum body body;
    const struct field *fields; /* of a BODY_JSON body */
    bool checks_fields;         /* the handler does, with a table that it chooses by the body */
    size_t body_limit;          /* of a BODY_RAW body, bytes */
    const void *data;           /* whatever the handler wants to know about its route */
};

/* The catalogue of failures: HTTP status and `error` code (spec 7). */
enum failure_code {
    INVALID = 1,         /* 400 VALIDATION_ERROR */
    UNAUTHORIZED,        /* 401 UNAUTHORIZED */
    FORBIDDEN,           /* 403 FORBIDDEN */
    PLAN_EXPIRED,        /* 403 PLAN_EXPIRED */
    PLAN_REQUIRED,       /* 403 DEVELOPER_PLAN_REQUIRED */
    NOT_FOUND,           /* 404 NOT_FOUND */
    METHOD_NOT_ALLOWED,  /* 405 NOT_FOUND: the web server's, see cgi-bin/root.c */
    TIMED_OUT,           /* 408 VALIDATION_ERROR */
    CONFLICT,            /* 409 VALIDATION_ERROR */
    LENGTH_REQUIRED,     /* 411 VALIDATION_ERROR */
    TOO_LARGE,           /* 413 VALIDATION_ERROR */
    UNSUPPORTED_TYPE,    /* 415 VALIDATION_ERROR */
    RANGE_NOT_SATISFIABLE, /* 416 VALIDATION_ERROR */
    UNPROCESSABLE,       /* 422 VALIDATION_ERROR */
    INTERNAL,            /* 500 INTERNAL_ERROR */
    BAD_GATEWAY,         /* 502 INTERNAL_ERROR */
    UNAVAILABLE,         /* 503 INTERNAL_ERROR */
};

struct failure {
    enum failure_code code; /* 0: none */
    const char *message;
    struct slice details; /* JSON, or empty */
    const char *site;     /* file:line where it began */
    bool is_verbatim;     /* the message stands as it is */
};

struct reply {
    int status; /* 0: not answered yet */
    const char *content_type;
    struct buffer headers; /* further header lines, each ended by CR LF */
    struct slice pieces[3];
    bool is_settled; /* a failure has become the answer */
    bool streamed; /* the handler writes it itself */
    size_t bytes;  /* of the body, written */
};

enum { MAX_PATH_PARAMETERS = 2, JSON_BODY_LIMIT = 2 * 1024 * 1024 };

struct request {
    struct arena *arena; /* lives as long as the request */
    const struct config *config;
    unsigned needs; /* what the executable declared (enum need) */
    const char *id; /* X-Request-Id: the caller's, the web server's, or made here */
    const char *method, *path;
    bool head; /* HEAD, answered as GET without the body */
    const struct route *route;
    struct slice parameters[MAX_PATH_PARAMETERS]; /* what stands for `:name`, in order, decoded */
    struct query query;
    struct slice body;       /* BODY_RAW and BODY_JSON */
    int64_t content_length;  /* -1 when not given */
    size_t body_read;        /* bytes read so far, dropped ones included */
    struct json json;        /* BODY_JSON: the object */
    bool is_strict;          /* Prefer: handling=strict: unknown fields are issues */
    struct caller *caller;   /* set by the guard */
    struct failure failure;
    struct reply reply;
    int64_t started; /* clock_monotonic */
    int64_t now;     /* clock_now at the start */
    bool upstream_was_sent;  /* something may have been carried out there */
    int upstream_calls;      /* to the platform, for the log */
    int upstream_status;     /* of the last one */
    int64_t upstream_ms;     /* of all */
    struct json_writer log; /* the open log line: handlers and guards may add members */
};

struct service {
    const char *name; /* the executable's */
    const struct route *routes; /* ends with an empty row */
    unsigned needs;             /* enum need: everything else is given up (confine.h) */
    void (*prepare)(struct request *rq); /* once, before that: opens what cannot be later; NULL */
};

/* Serves the routes until there are no more requests; the value is main's exit status. */
int serve(const struct service *service);

/* Fails the request: the first failure wins. Returns -1, so that a handler can
 * `return fail(rq, NOT_FOUND, "...")`. The message is for the client: what was wrong and what to
 * do about it. That of a 5xx is followed by the request's id, under which the log says more. */
#define fail(rq, code, ...) fail_at(rq, code, __FILE__, __LINE__, __VA_ARGS__)
int fail_at(struct request *rq, enum failure_code code, const char *file, int line,
            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same with a message that is not ours to change: the platform's, or one that spec 4 fixes. */
#define fail_verbatim(rq, code, message) fail_verbatim_at(rq, code, __FILE__, __LINE__, message)
int fail_verbatim_at(struct request *rq, enum failure_code code, const char *file, int line,
                     const char *message);

/* Adds `details` to the failure, which must be JSON; null, "", {} and [] are left out (spec 2.1).
 */
int fail_with_details(struct request *rq, struct slice details);

/* Makes an empty list, strict where the request is. */
void request_start_issues(const struct request *rq, struct issues *issues);

/* Whether the issues list is not empty; then the request fails with 400 and the list as `details`
 * (spec 4.3). */
int fail_on_issues(struct request *rq, struct issues *issues);

/* Answers 200 {"success":true,"data":<data>}; `data` is JSON and passed unchanged. Returns 0. */
int reply_data(struct request *rq, struct slice data);

/* Answers `status` with a body that is not an envelope. Returns 0. */
int reply_body(struct request *rq, int status, const char *content_type, struct slice body);

/* Adds a header line to the answer, success or failure. `value` may hold anything: control
 * characters are dropped from it. */
void reply_header(struct request *rq, const char *name, const char *value);

/* Writes the status line and headers now, for an answer that is streamed with reply_more. A negative
 * `length` means unknown. Returns 0, or -1 when the client is gone. */
int reply_stream(struct request *rq, int status, const char *content_type, int64_t length);

/* The next bytes of a streamed body. Returns 0, or -1 when the client is gone. */
int reply_more(struct request *rq, struct slice bytes);

/* A request header, by its CGI name ("HTTP_X_API_TOKEN", "CONTENT_TYPE"); NULL when absent. */
const char *request_variable(const char *name);

/* The next bytes of the body, as transport_read; fails the request with 408 and returns -1 when it
 * comes too slowly. */
ssize_t request_read_body(struct request *rq, void *bytes, size_t n);

/* Whether the end that was met is the body's real end: CONTENT_LENGTH bytes were read, or none was
 * announced. */
bool request_body_is_complete(const struct request *rq);

/* Fails with 415 when the body has a Content-Encoding, or a Transfer-Encoding beside chunked, which
 * nobody undoes (RFC 9112 6.1); BODY_JSON bodies were checked. */
int request_check_encoding(struct request *rq);

#endif
