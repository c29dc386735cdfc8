/* One request to the gateway, with a check of its answer against the rules for all answers
 * (spec 2.1, 7). Each is a line of exchange.tsv: begin and end (ms), client, kind of request,
 * curl's code (0: an answer was received), status, X-Request-Id, and the error of the answer, if
 * any. */
#ifndef SOAK_EXCHANGE_H
#define SOAK_EXCHANGE_H

#include "base/json.h"

struct exchange {
    const char *who, *what;
    unsigned host; /* which of the URLs, modulo their number; 0: each in turn */
    const char *method, *path;
    const char *token;     /* NULL: none is sent */
    const char *key;       /* Idempotency-Key; NULL: none */
    const char *signature; /* X-Hub-Signature-256; NULL: none */
    const char *type;      /* Content-Type of the body; NULL: application/json */
    struct slice body;     /* p == NULL: none */
    bool takes_file;       /* the body of a 200 is a file, not an envelope */

    int failure; /* curl's code; 0: an answer was received */
    long status; /* 0: no answer */
    bool is_replayed;
    struct json answer; /* absent when it is no JSON */
    struct slice file;  /* the received bytes; empty unless takes_file */
};

/* Sets the gateway's URLs, one for each web host, separated by one space, and the directory of the
 * history. To be called once, before any thread. */
void exchange_start(const char *bases, const char *dir);

/* Sends the request once, on a new connection, and sets the answer. Its memory is from `arena`. */
void exchange_make(struct arena *arena, struct exchange *exchange);

/* Whether the outcome of the request is unknown: no answer, or an answer that says so. */
bool exchange_is_unknown(const struct exchange *exchange);

#endif
