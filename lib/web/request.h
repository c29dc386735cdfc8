/* A request, its processing and its answer.
 *
 * An executable is a route table and a `main` that serves it. serve() chooses the route, calls the
 * route's guard for authorization, checks body and query against the declared fields, and only then
 * calls the handler: a handler gets valid requests only. It answers with one of the `reply_...`
 * functions, or fails with `fail`. The answer is built in memory, written once, and followed by one
 * log line.
 */
#ifndef SWITCHBOARD_REQUEST_H
#define SWITCHBOARD_REQUEST_H

#include <sys/types.h>

#include "base/config.h"
#include "base/process/confine.h"
#include "web/field.h"
#include "web/scope.h"

struct request;
struct caller;        /* the authenticated user: defined in auth.h, unknown to lib/web */
struct graph_request; /* defined in graph_request.h, unknown to lib/web */

/* What a guard requires of a request. The description of the routes (describe.h) lists it. */
enum requirement {
    REQUIRES_EITHER = 1,    /* API token or session */
    REQUIRES_LINE = 2,      /* phoneNumberId in the JSON body, a line of the caller (spec 5.6) */
    REQUIRES_SIGNATURE = 4, /* the platform's signature of the body (spec 6) */
    REQUIRES_SESSION = 8,   /* a session of the dashboard; a token does not count */
    REQUIRES_TOKEN = 16,    /* API token in one of the platform's forms; a session does not count */
};

/* The authorization of a route. Each step returns 0, or -1 after it has failed the request; a step
 * that is NULL is omitted. */
struct guard {
    /* Checks caller and plan (spec 5.5), before the body is read; called a second time after a body
     * that arrived slowly. */
    int (*before_body)(struct request *rq);
    int (*before_fields)(struct request *rq); /* after the JSON was read: ownership (spec 5.6) */
    unsigned requires;                        /* enum requirement */
};

/* How a route receives its body. */
enum body {
    BODY_NONE,   /* read and dropped */
    BODY_JSON,   /* a JSON object of at most 2 MB, checked against `fields`: of a route with them */
    BODY_RAW,    /* kept as bytes, at most `body_limit` */
    BODY_STREAM, /* the handler reads it with request_read_body */
};

/* What a 2xx of a route leaves in the trail (store/deed.h): every route but GET says one of these.
 *
 *     "NOUN.VERB"         one row with this action, in the transaction of the change
 *     TRAIL_MESSAGE       the row of the message, which names who sent it
 *     TRAIL_BY_EDGE       what the row of the edge says, of a service with the platform's contract
 *     NO_TRAIL("reason")  nothing
 */
#define TRAIL_MESSAGE    "message"
#define TRAIL_BY_EDGE    "edge"
#define NO_TRAIL(reason) "-" reason

/* How a route keeps to the lines and threads of a caller who has some of them only (store/view.h).
 */
#define LINES_BY_BODY                                                                              \
    "by body" /* phoneNumberId of the body is one of them, and no colleague has                    \
                 the thread with the person */
#define LINES_BY_THREAD  "by thread"  /* what is on another line, or a colleague's, is not found */
#define LINES_BY_MESSAGE "by message" /* the message of the query is on one, and has the file */
#define LINES_BY_CONTACT "by contact" /* a contact without a thread on them is not found */
#define LINES_BY_HOLDER  "by holder"  /* who has others is not changed: a member, a token */
#define LINES_LISTED     "listed"     /* the answer has what is on them */
#define LINES_NONE       "none"       /* it is about no line */

struct route {
    const char *method;
    const char *path;          /* segments; `:name` matches any segment */
    const struct guard *guard; /* NULL: public */
    unsigned scope;            /* enum scope: what the caller must have; 0: there is no caller */
    const char *lines;         /* how it keeps to what the caller sees, as above; NULL: a caller who
                                  has some of the lines or threads only is refused */
    int (*handle)(struct request *rq);
    const struct field *query; /* of the query string; NULL: it is ignored */
    enum body body;
    const struct field *fields; /* of the body, which is BODY_JSON then; NULL: `body` says how */
    /* Writes the array of the kinds that the handler chooses from by the body, each an object with
     * its `kind` and the `members` that select it; the handler then checks the fields of the kind.
     * NULL: the fields do not depend on the body. `name`: as for json_write_array. */
    void (*write_kinds)(struct json_writer *out, const char *name);
    size_t body_limit; /* of a BODY_RAW body, bytes */
    const char *trail; /* as above; NULL: of GET */
    const void *data;  /* private data of the handler */
};

/* The failures: HTTP status and `error` code (spec 7). */
enum failure_code {
    INVALID = 1,           /* 400 VALIDATION_ERROR */
    UNAUTHORIZED,          /* 401 UNAUTHORIZED */
    FORBIDDEN,             /* 403 FORBIDDEN */
    PLAN_EXPIRED,          /* 403 PLAN_EXPIRED */
    PLAN_REQUIRED,         /* 403 DEVELOPER_PLAN_REQUIRED */
    NOT_FOUND,             /* 404 NOT_FOUND */
    METHOD_NOT_ALLOWED,    /* 405 NOT_FOUND: only for a 405 of the web server, see cgi-bin/root.c */
    TIMED_OUT,             /* 408 VALIDATION_ERROR */
    CONFLICT,              /* 409 VALIDATION_ERROR */
    LENGTH_REQUIRED,       /* 411 VALIDATION_ERROR */
    TOO_LARGE,             /* 413 VALIDATION_ERROR */
    UNSUPPORTED_TYPE,      /* 415 VALIDATION_ERROR */
    RANGE_NOT_SATISFIABLE, /* 416 VALIDATION_ERROR */
    UNPROCESSABLE,         /* 422 VALIDATION_ERROR */
    RATE_LIMITED,          /* 429 RATE_LIMITED */
    INTERNAL,              /* 500 INTERNAL_ERROR */
    BAD_GATEWAY,           /* 502 INTERNAL_ERROR */
    UNAVAILABLE,           /* 503 INTERNAL_ERROR */
};

struct failure {
    enum failure_code code; /* 0: none */
    const char *message;
    struct slice details; /* JSON; null, "", {}, [] and no bytes are omitted (spec 2.1) */
    bool is_verbatim;     /* the message is sent unchanged */
    const char *site;     /* FILE:LINE of the call of fail */
};

struct reply {
    int status; /* 0: not answered yet */
    const char *content_type;
    struct buffer headers;  /* additional header lines, each ended by CR LF */
    struct slice pieces[3]; /* the body, in order */
    bool has_envelope;      /* the body is the error envelope */
    bool streamed;          /* the handler writes the body with reply_more */
    size_t bytes;           /* of the body, written so far */
};

enum { MAX_PATH_PARAMETERS = 2, JSON_BODY_LIMIT = 2 * 1024 * 1024 };

struct request {
    struct arena *arena; /* lives as long as the request */
    const struct config *config;
    unsigned needs; /* of the executable (enum need) */
    const char *id; /* X-Request-Id: from the client, from the web server, or generated here */
    const char *method, *path;
    bool head; /* HEAD, answered as GET without the body */
    const struct route *route;
    struct slice parameters[MAX_PATH_PARAMETERS]; /* the `:name` segments, in order, decoded */
    struct query query;
    struct slice body;                  /* BODY_RAW and BODY_JSON */
    int64_t content_length;             /* -1: no Content-Length */
    size_t body_read;                   /* bytes read by request_read_body */
    struct json json;                   /* BODY_JSON: the object */
    bool is_strict;                     /* Prefer: handling=strict: unknown fields are issues */
    struct caller *caller;              /* set by the guard */
    struct graph_request *graph;        /* set by graph_enter */
    void (*settle)(struct request *rq); /* as in struct service */
    const char *trail;                  /* the route's, or the edge's; as in struct route */
    bool has_trail;        /* the row is left, or was left by the request that this one repeats */
    const char *user_id;   /* of the authenticated caller; NULL: none. Set by the guard */
    const char *token_id;  /* of the scoped token that the guard has accepted; NULL: none */
    bool has_session;      /* the guard looked for a session: the request has no token */
    void (*release)(void); /* of the locks that the request holds; NULL: it holds none */
    void (*forget)(void);  /* at the end: of pointers into `arena`; NULL: there is none */
    struct failure failure;
    struct reply reply;
    int64_t started;        /* clock_monotonic_us */
    int64_t now;            /* clock_now at the start */
    bool upstream_was_sent; /* the platform may have carried out a call */
    int upstream_calls;     /* to the platform, for the log */
    int upstream_status;    /* of the last one */
    int64_t upstream_ms;    /* of all */
    struct json_writer log; /* the log line, open: handlers and guards may add members */
};

struct service {
    const char *name;           /* of the executable */
    const struct route *routes; /* ends with an empty row */
    unsigned needs;             /* enum need: all other permissions are dropped (confine.h) */
    bool (*load)(void);         /* initializes libraries: called in each process before the
                                   confinement, and before that in the parent of a pool's
                                   processes, which share them (prefork.h); NULL: none */
    void (*prepare)(struct request *rq); /* called once before the confinement, to open what a
                                            confined process cannot open; NULL: none */
    void (*enter)(struct request *rq);   /* called first for each request; may replace rq->path, by
                                            which the route is chosen; NULL: none */
    void (*settle)(struct request *rq);  /* makes the answer of a failed request, by reply_body;
                                            NULL: the error envelope (spec 2.1) */
    /* Writes the array of the edges of a service with the platform's contract, which has paths and
     * answers that are not ours: the description lists them instead of the routes. Each is an
     * object with `method`, `path` and `action`. NULL: the service has our contract. */
    void (*write_edges)(struct json_writer *out, const char *name);
    bool is_catch_all;   /* a rewrite may call it by its own name: its path is PATH_INFO then */
    bool takes_rewrites; /* so, but only if PATH_INFO begins with /v2/: it has own paths too */
};

/* Serves the routes until there are no more requests. Without a web server, it prints the
 * description of the service instead: as text, or as JSON with the argument --describe
 * (describe.h). A web server may make arguments of a query string (RFC 3875 4.4): under one they
 * have no effect. `argc`, `argv`: those of main. Returns the exit status for main. */
int serve(const struct service *service, int argc, char **argv);

/* What a program serves: each defines it, and serve_main.c has main() for all. A program that makes
 * its routes when it starts has its own main() instead. */
extern const struct service this_service;

/* Sets what opens the database, before serve() is called: serve() calls it once before the
 * confinement, ahead of the service's own `prepare`, if the service needs the database. */
void serve_database_with(void (*prepare)(struct request *rq));

/* Fails the request; after the first failure, further ones are ignored. Returns -1, so that a
 * handler can `return fail(rq, NOT_FOUND, "...")`. The message is for the client: the problem and
 * what to do about it. A 5xx adds the request's id, which the log line has too. */
#define fail(rq, status, ...)                                                                      \
    fail_at(rq, &(struct failure){.code = (status), .site = FAILURE_SITE}, __VA_ARGS__)

/* As fail, with the `details` of the answer: a JSON text, which must live as long as the request.
 */
#define fail_with_details(rq, status, json, ...)                                                   \
    fail_at(rq, &(struct failure){.code = (status), .details = (json), .site = FAILURE_SITE},      \
            __VA_ARGS__)

/* As fail_with_details, with a message that is sent unchanged: the platform's, or one that spec 4
 * defines. */
#define fail_verbatim(rq, status, json, text)                                                      \
    fail_at(rq,                                                                                    \
            &(struct failure){                                                                     \
                .code = (status), .details = (json), .is_verbatim = true, .site = FAILURE_SITE},   \
            "%s", text)

#define FAILURE_SITE       __FILE__ ":" FAILURE_LINE(__LINE__)
#define FAILURE_LINE(line) FAILURE_TEXT(line)
#define FAILURE_TEXT(line) #line
int fail_at(struct request *rq, const struct failure *failure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes an empty list of issues, strict if the request is. */
void request_start_issues(const struct request *rq, struct issues *issues);

/* If there are issues, fails the request with 400 and the list as `details` (spec 4.3) and returns
 * -1; else returns 0. */
int fail_on_issues(struct request *rq, struct issues *issues);

/* Fails the request so with one issue (issues_add), whose message is `problem`. Returns -1. */
int fail_on_issue(struct request *rq, const char *path, const char *code, const char *problem);

/* Answers 200 {"success":true,"data":<data>}; `data` is JSON, sent unchanged. Returns 0. */
int reply_data(struct request *rq, struct slice data);

/* Begins an answer whose `data` is an object: the caller writes the members into `out`. Then
 * reply_object ends the object, and answers as reply_data. */
void reply_start(struct request *rq, struct json_writer *out);
int reply_object(struct request *rq, struct json_writer *out);

/* As reply_data with 202: the request is carried out later (RFC 9110 15.3.3). */
int reply_accepted(struct request *rq, struct slice data);

/* Answers `status` with a body that is not an envelope. Returns 0. */
int reply_body(struct request *rq, int status, const char *content_type, struct slice body);

/* Adds a header line to the answer, also to that of a failure. Control characters are removed from
 * `value`. */
void reply_header(struct request *rq, const char *name, const char *value);

/* Writes the status line and the headers, for an answer whose body reply_more writes. `length` is
 * the length of the body in bytes; negative: unknown. Returns 0, or -1 when the client has
 * disconnected. */
int reply_stream(struct request *rq, int status, const char *content_type, int64_t length);

/* Writes the next bytes of a streamed body. Returns 0, or -1 when the client has disconnected. */
int reply_more(struct request *rq, struct slice bytes);

/* Releases the locks that the request holds (rq->release). Called by request_read_body, the reply
 * functions that write, the functions of upstream.h that call the platform, and at the end of the
 * request: so no lock is held while the request waits for the client or the platform. */
void request_release(struct request *rq);

/* Returns the first `:name` segment of the path as a text, in the request's memory. */
const char *request_segment(struct request *rq);

/* Returns a request header by its CGI name, such as "HTTP_X_API_TOKEN" or "CONTENT_TYPE"; NULL when
 * absent. */
const char *request_variable(const char *name);

/* Removes every variable of the environment, which the caller of a CGI sets, and so for a setgid
 * program any user, except the CGI variables of the request and those named SWITCHBOARD_*. Others
 * change how libraries work: SSLKEYLOGFILE makes libcurl write session keys to a file, RES_OPTIONS
 * and LOCALDOMAIN change how host names are resolved, http_proxy redirects requests. serve() calls
 * it first. The courier and the CLI have the rights of the user who starts them and do not. */
void request_limit_environment(void);

/* Returns the address of the client, as the web server names it. */
const char *request_client(struct request *rq);

/* Reads the next bytes of the body, as transport_read, after request_release. Fails the request
 * with 408 and returns -1 when the body arrives too slowly. */
ssize_t request_read_body(struct request *rq, void *bytes, size_t n);

/* After the end of the body: whether it is complete, that is CONTENT_LENGTH bytes long, or of any
 * length without CONTENT_LENGTH. */
bool request_body_is_complete(const struct request *rq);

/* Fails with 415 when the body has a Content-Encoding, or a Transfer-Encoding other than chunked:
 * neither Apache nor the gateway decodes them (RFC 9112 6.1). serve() calls it for BODY_JSON. */
int request_check_encoding(struct request *rq);

/* Reads the body as a JSON object. Returns 0, or -1 after failing the request with 400. serve()
 * calls it for BODY_JSON. */
int request_read_object(struct request *rq, struct json *object);

#endif
