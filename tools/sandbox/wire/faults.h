/* Fault injection: failures of the platform, of the proxies in front of it and of the network. A
 * fault applies to a number of requests that match it, and is then removed. */
#ifndef SANDBOX_FAULTS_H
#define SANDBOX_FAULTS_H

#include "wire/exchange.h"

enum fault_kind {
    FAULT_NONE,           /* only the status, code or body given */
    FAULT_HANG,           /* no answer for `ms` milliseconds (0: for ever) */
    FAULT_RESET,          /* connection reset once the request was read and carried out */
    FAULT_RESET_BEFORE,   /* connection reset after `bytes` bytes of the body */
    FAULT_DRIP,           /* the answer's body one byte every `ms` milliseconds */
    FAULT_GARBAGE,        /* 200 with bytes that are not JSON */
    FAULT_HTML,           /* an HTML page, 502 unless a status is given */
    FAULT_HUGE,           /* 200 with valid JSON of `bytes` bytes */
    FAULT_TRUNCATE,       /* closed after `bytes` bytes, short of Content-Length */
    FAULT_CLOSE_MID_BODY, /* connection reset after `bytes` bytes of a chunked answer */
    FAULT_DELAY           /* the answer is delayed by `ms` milliseconds */
};

struct fault {
    struct arena *arena; /* of the struct, its texts and its bytes */
    int64_t id;
    enum fault_kind kind;
    int64_t times; /* number of requests to hit; 0 = all */
    int64_t skip;  /* number of matching requests not to hit first */
    int64_t hits;
    bool early; /* answer before the body is read */
    int64_t status;
    int64_t code; /* error body of the platform, 0 = none */
    int64_t subcode;
    int64_t milliseconds;
    int64_t bytes;
    bool has_bytes;
    bool has_code;
    const char *message;
    const char *details;
    const char *method; /* conditions; NULL matches every request */
    const char *path;
    const char *recipient;
    const char *token;
    const char *within;    /* substring of the request body */
    struct slice body;     /* p NULL: none given */
    struct buffer headers; /* lines for reply.headers */
    unsigned references;   /* by the list and by exchanges */
    struct fault *next;
};

/* Adds the fault that `json` describes (see the table in control_calls.c). Returns NULL and sets
 * `*id` to the fault's number, or in `arena` the text of an error. */
const char *fault_add(struct arena *arena, const cJSON *json, int64_t *id);

/* Deletes all faults. */
void fault_clear(void);

/* Appends the faults that are not used up as a JSON array. */
void fault_list(struct buffer *out);

/* Returns the first fault that applies to this request and counts the hit; NULL when there is none.
 * With `early`, before the body is read, only faults that act early apply. The caller calls
 * fault_drop. */
struct fault *fault_take(const struct exchange *exchange, bool early);

/* Ends the use of a fault that fault_take returned; NULL is allowed. */
void fault_drop(struct fault *fault);

/* Whether the fault answers instead of the platform, so that the request is not carried out. */
bool fault_replaces(const struct fault *fault);

/* Makes the answer of the exchange's fault. */
void fault_answer(struct exchange *exchange);

#endif
