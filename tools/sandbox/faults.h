/* Fault injection: failures of the platform, of the proxies in front of it and of the network. A
 * fault applies to a number of requests that match it, and is then removed. */
#ifndef SANDBOX_FAULTS_H
#define SANDBOX_FAULTS_H

#include "exchange.h"

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
    uint64_t id;
    enum fault_kind kind;
    uint64_t times; /* number of requests to hit; 0 = all */
    uint64_t skip;  /* number of matching requests not to hit first */
    uint64_t hits;
    bool early; /* answer before the body is read */
    uint64_t status;
    uint64_t code; /* error body of the platform, 0 = none */
    uint64_t subcode;
    uint64_t milliseconds;
    uint64_t bytes;
    bool has_bytes;
    bool has_code;
    char *message;
    char *details;
    char *method; /* conditions; NULL matches every request */
    char *path;
    char *recipient;
    char *token;
    char *within; /* substring of the request body */
    struct bytes body;
    bool has_body;
    struct bytes headers; /* lines for reply.headers */
    unsigned references;
    struct fault *next;
};

/* Adds the fault that json describes (see the control table). Returns NULL, or an error text that
 * the caller frees; *id is the fault's number. */
char *fault_add(const cJSON *json, uint64_t *id);

/* Deletes all faults. */
void fault_clear(void);

/* Appends the faults that are not used up as a JSON array. */
void fault_list(struct bytes *out);

/* Returns the first fault that applies to this request and counts the hit; NULL if there is none.
 * With `early`, before the body is read, only faults that act early apply. The caller drops the
 * fault. */
struct fault *fault_take(struct exchange *exchange, bool early);
void fault_drop(struct fault *fault);

/* True if the fault answers instead of the platform, so that the request is not carried out. */
bool fault_replaces(const struct fault *fault);

/* Makes the fault's answer, which replaces the platform's. */
void fault_answer(struct exchange *exchange);

#endif
