/* What the platform's answer to the POST of a send means. */
#ifndef SWITCHBOARD_SENDING_VERDICT_H
#define SWITCHBOARD_SENDING_VERDICT_H

#include "base/json.h"
#include "graph/call.h"
#include "store/outgoing.h"

struct verdict {
    const char *state;  /* accepted, queued, failed or unknown */
    const char *reason; /* NULL: the answer says it */
    struct json answer; /* accepted */
    struct slice error; /* the platform's refusal; n == 0: none */
    int64_t wait_ms;    /* queued: before the row is sent again */
    int64_t pause_ms;   /* before the line sends another row */
    bool is_free;       /* queued: the attempt does not count */
    bool is_too_fast;   /* the line has reached its throughput */
    bool was_not_sent;  /* the platform could not be reached */
    long mistake;       /* failed: the code, if it says that the message itself is wrong, as all
                           others of the campaign may be; else 0 */
    /* of a row of a campaign: it waits, and these campaigns pause; NULL: none does */
    enum outgoing_pause pause;
    const char *pause_reason;
    bool opts_out; /* failed: the recipient wants no marketing */
};

/* Judges the answer to attempt number `attempts`, from 1. Everything lives in `arena`. Only an
 * answer of the platform that refuses the message, or the certainty that nothing was sent, lets a
 * row be sent again or fail; all others leave the outcome unknown. */
struct verdict verdict_of(struct arena *arena, const struct graph_answer *answer, int64_t attempts,
                          bool is_of_campaign);

#endif
