/* The upstream client: calls the platform's Graph API over libcurl, one at a time on the connection
 * of the process, which a process that serves several requests reuses, or many at a time. The
 * functions return the platform's answer as it is: upstream.h maps it to the answer of this API.
 */
#ifndef SWITCHBOARD_GRAPH_CALL_H
#define SWITCHBOARD_GRAPH_CALL_H

#include "graph/transfer.h"

struct graph_call {
    const char *method; /* GET or POST */
    const char *path;   /* the path after the version, percent-encoded: "1065/messages" */
    const char *token;  /* the platform access token; never logged */
    struct slice body;  /* JSON, of a POST; p == NULL: no body */
    int64_t limit_ms;   /* the longest time for the whole call; 0: 30 s */
};

/* Makes the call and waits for the answer: at most 5 s to connect, `limit_ms` in total. An answer
 * with more than 16 MB of body is a failure. TLS, redirects and proxies are as in http_client.h. A
 * POST is sent at most once. The strings and the body of the answer live in `arena`. */
void graph_call(const struct config *config, struct arena *arena, const struct graph_call *call,
                struct graph_answer *answer);

/* --- many calls at a time, on one handle of libcurl's multi interface --- */

/* The owner of a call on the multi handle: CURLINFO_PRIVATE points to it. */
struct graph_owner {
    void (*ended)(struct graph_owner *owner, CURLM *multi, CURLcode code);
};

struct graph_post {
    CURL *curl; /* reused for the next POST; NULL: none yet */
    struct transfer transfer;
    struct graph_answer answer; /* valid after graph_post_end */
};

/* Starts the call on `multi`, for `owner`. A POST is sent at most once, as by graph_call. What
 * `call` points to must stay valid until graph_post_end, and the memory of the answer is in
 * `arena`. Returns false when it cannot be started: the answer is then that of a call that was not
 * sent. */
bool graph_post_start(struct graph_post *post, CURLM *multi, const struct config *config,
                      struct arena *arena, const struct graph_call *call,
                      struct graph_owner *owner);

/* Makes progress on all calls, without blocking, and calls the owners of those that have ended.
 * Returns their number. */
size_t graph_owners_advance(CURLM *multi);

/* Removes the POST from `multi` and fills its answer from libcurl's result `code`. */
void graph_post_end(struct graph_post *post, CURLM *multi, CURLcode code);

/* Frees the handle. */
void graph_post_free(struct graph_post *post);

/* Returns `text`, percent-encoded for a path segment or a query value (RFC 3986 2.3), in `arena`.
 */
char *graph_escape(struct arena *arena, struct slice text);

#endif
