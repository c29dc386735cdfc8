/* One attempt to deliver one event (spec 6): the request, over libcurl, and its result.
 *
 * While an attempt is in flight, a curl_multi handle owns its transfer. It takes 15 s at most; at
 * most 32 KB of headers and 16 KB of body are read from the answer. Cookies are not used. No
 * connection is made to an address that `webhook_egress` does not allow (egress.h).
 */
#ifndef SWITCHBOARD_DELIVERY_ATTEMPT_H
#define SWITCHBOARD_DELIVERY_ATTEMPT_H

#include "base/http_client.h"
#include "base/keyring.h"
#include "delivery/egress.h"
#include "store/outbox.h"

enum { ATTEMPT_HEAD_SIZE = 1024 }; /* bytes of the answer's body that are kept for the log */

/* The part of the receiver's answer that was read. */
struct answer {
    size_t header_bytes, body_bytes;
    char head[ATTEMPT_HEAD_SIZE];
    size_t head_length;
    char retry_after[64];           /* "" when absent */
    bool has_large_headers, is_cut; /* the headers, the body are larger than the limit */
    bool wants_no_more;             /* `webhook-delivery: abort-message` */
};

struct attempt {
    struct arena arena; /* memory of everything the members point to; reset by attempt_clear */
    struct store_delivery delivery;
    const char *destination; /* HOST:PORT */
    struct egress_guard guard;
    struct http_client http; /* its handle is reused for the next attempt in this slot */
    int64_t started_at;      /* wall clock, ms */
    int64_t started;         /* clock_monotonic */
    bool timed_out;          /* valid after the end */
    struct answer answer;
    struct store_attempt result; /* valid after the end */
};

/* Allocates the memory of an attempt. Returns false when there is none. The caller must call
 * attempt_free in either case. */
bool attempt_init(struct attempt *attempt);
void attempt_free(struct attempt *attempt);

/* Copies the delivery and starts its transfer on `multi`. Returns false when it cannot be started:
 * the attempt has then ended, and `result` is set. */
bool attempt_start(struct attempt *attempt, CURLM *multi, const struct config *config,
                   const struct keyring *keys, const struct store_delivery *delivery);

/* Removes the attempt from `multi` and sets its result from `code`, libcurl's result code. */
void attempt_end(struct attempt *attempt, CURLM *multi, CURLcode code);

/* Removes the attempt from `multi` without a result. */
void attempt_drop(struct attempt *attempt, CURLM *multi);

/* Clears an attempt that was recorded or dropped, so that it can be started again. */
void attempt_clear(struct attempt *attempt);

/* Returns HOST:PORT of the URL, in `arena`; `url` itself when it has none. */
const char *attempt_destination(struct arena *arena, const char *url);

#endif
