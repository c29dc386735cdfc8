/* One attempt to deliver one event (spec 6): the request, over libcurl, and what comes of it.
 *
 * An attempt belongs to a curl_multi handle while it is under way. The receiver has 5 s to take the
 * connection and 15 s in all; of its answer 32 KB of headers and 16 KB of body are read. Redirects
 * are not followed, proxies, netrc and cookies not used, and addresses that `webhook_egress` does
 * not allow not connected to, whatever name or spelling led there.
 */
#ifndef SWITCHBOARD_DELIVERY_ATTEMPT_H
#define SWITCHBOARD_DELIVERY_ATTEMPT_H

#include <curl/curl.h>

#include "base/config.h"
#include "base/keyring.h"
#include "delivery/egress.h"
#include "store/outbox.h"

enum { ATTEMPT_HEAD_SIZE = 1024 }; /* of the answer's body, kept for the log */

/* What the receiver answered, as far as it was read. */
struct answer {
    size_t header_bytes, body_bytes;
    char head[ATTEMPT_HEAD_SIZE];
    size_t head_length;
    char retry_after[64];           /* "" when absent */
    bool has_large_headers, is_cut; /* reading stopped there */
    bool wants_no_more;             /* `webhook-delivery: abort-message` */
};

struct attempt {
    struct arena arena; /* holds what the members point to; reset by attempt_clear */
    struct store_delivery delivery;
    const char *destination; /* HOST:PORT */
    enum egress egress;
    CURL *curl;     /* kept from attempt to attempt */
    CURLcode unset; /* why an option could not be set; CURLE_OK: all were */
    struct curl_slist *headers;
    int64_t started_at;       /* wall clock */
    int64_t started;          /* clock_monotonic */
    char refused_address[64]; /* "" when none was refused */
    bool is_connected;
    bool timed_out; /* once it has ended */
    struct answer answer;
    char detail[CURL_ERROR_SIZE];
    struct store_attempt result; /* once it has ended */
};

/* Makes room for an attempt; false when there is no memory. attempt_free takes it back, whether or
 * not there was. */
bool attempt_init(struct attempt *attempt);
void attempt_free(struct attempt *attempt);

/* Copies the delivery and sends it on its way with `multi`. On failure the attempt has ended
 * already, with its result; false then. */
bool attempt_start(struct attempt *attempt, CURLM *multi, const struct config *config,
                   const struct keyring *keys, const struct store_delivery *delivery);

/* Takes the attempt off `multi` and sets its result: libcurl's verdict was `code`. */
void attempt_end(struct attempt *attempt, CURLM *multi, CURLcode code);

/* Takes the attempt off `multi` without a result. */
void attempt_drop(struct attempt *attempt, CURLM *multi);

/* Forgets an attempt that was recorded or dropped. */
void attempt_clear(struct attempt *attempt);

/* HOST:PORT that the URL leads to, in `arena`; the URL itself when it leads nowhere. */
const char *attempt_destination(struct arena *arena, const char *url);

#endif
