/* The last requests of all processes of an installation, for GET /v2/requests: a ring of records in
 * a memory-mapped file (configuration key `requests_file`). A process maps the file before it is
 * confined; adding a record then needs no system call and no lock. The records survive restarts.
 * Several processes may write at once. A record carries a checksum, so that a reader sees it whole
 * or not at all.
 *
 * A record never holds a query string, a body or a token. The file also has the last use of each
 * scoped token, which the courier writes into the database: a table of a fixed size, which forgets
 * the use that is the oldest among the places of a new one when it is full. It has ids, never
 * tokens.
 */
#ifndef SWITCHBOARD_REQUEST_LOG_H
#define SWITCHBOARD_REQUEST_LOG_H

#include "base/id.h"
#include "base/mapped_file.h"

enum {
    REQUEST_LOG_RECORDS = 65536,
    REQUEST_LOG_FILE_SIZE = 4096 + 65536 * 192 + 4096 * 64, /* bytes */
    REQUEST_LOG_ID_SIZE = 65,                               /* of the request's id, with the NUL */
    REQUEST_LOG_ROUTE_SIZE = 57,                            /* a longer route is cut */
    REQUEST_LOG_METHOD_SIZE = 9,
    TOKEN_USE_SLOTS = 4096,
    TOKEN_USE_PRECISION = 60 * 1000, /* ms: a later use within it is not noted */
};

struct request_record {
    uint64_t number;                      /* ascending from 1; set by request_log_add */
    int64_t time;                         /* when the request arrived, ms */
    int64_t ms;                           /* its duration */
    int status;                           /* of the answer */
    bool is_session;                      /* authorized by a session, not by a token */
    bool is_scoped;                       /* authorized by a scoped token, not by the main one */
    char user_id[ID_SIZE];                /* the caller */
    char id[REQUEST_LOG_ID_SIZE];         /* X-Request-Id */
    char method[REQUEST_LOG_METHOD_SIZE]; /* such as GET */
    char route[REQUEST_LOG_ROUTE_SIZE];   /* the path of the route, with its `:name` segments */
};

/* Maps the file at `path`, and creates it when it is missing. Without a path, or when the file
 * cannot be used, nothing is recorded. `problem` is "" or describes what is wrong. */
void request_log_open(const char *path, char problem[MAPPED_FILE_PROBLEM_SIZE]);

/* Whether requests are recorded. */
bool request_log_is_kept(void);

/* Adds a record; the oldest one is overwritten. */
void request_log_add(const struct request_record *record);

/* Finds the newest record of the user before the record *before, and sets *before to its number;
 * UINT64_MAX: the newest one. False when there is none. */
bool request_log_next(const char *user_id, uint64_t *before, struct request_record *record);

/* The last use of a scoped token. */
struct token_use {
    int64_t time; /* ms */
    char id[ID_SIZE];
};

/* Notes that the scoped token was used. */
void request_log_note_use(const struct token_use *use);

/* Reads the last use of a token from the slot `i`, less than TOKEN_USE_SLOTS; false when there is
 * none. */
bool request_log_read_use(size_t i, struct token_use *use);

#endif
