/* One request to the gateway, and whether its answer is what every answer must be (spec 2.1, 7).
 * Each is a line of exchange.tsv: begin and end (ms), who asked, what, curl's code (0: an answer
 * came), status, X-Request-Id, and what is wrong with the answer, if anything. */
#ifndef SOAK_EXCHANGE_H
#define SOAK_EXCHANGE_H

#include "base/json.h"

struct exchange {
    const char *who, *what;
    const char *method, *path;
    const char *token;     /* NULL: none is sent */
    const char *key;       /* Idempotency-Key; NULL: none */
    const char *signature; /* X-Hub-Signature-256; NULL: none */
    const char *type;      /* Content-Type of the body; NULL: application/json */
    struct slice body;     /* p == NULL: none */
    bool takes_file;       /* 200 comes with a file, in place of an envelope */

    int failure; /* of curl; 0: an answer came */
    long status; /* 0: none came */
    bool is_replayed;
    struct json answer; /* absent when it is no JSON */
    struct slice file;  /* what came of it; empty when none was asked for */
};

/* Where the gateway is, and where the history goes. Once, before any thread. */
void exchange_start(const char *base, const char *dir);

/* Carries it out on a connection of its own, once. */
void exchange_make(struct arena *arena, struct exchange *exchange);

/* Whether nobody can know what it did: no answer, or one that says so. */
bool exchange_is_unknown(const struct exchange *exchange);

#endif
