/* The upstream client: calls the platform's Graph API over libcurl. Each process has one
 * connection, and a process that serves several requests reuses it. The functions return the
 * platform's answer as it is: upstream.h maps it to the answer of this API.
 */
#ifndef SWITCHBOARD_GRAPH_CALL_H
#define SWITCHBOARD_GRAPH_CALL_H

#include "base/config.h"
#include "graph/answer.h"

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

/* Sets URL, time limit and body of the call on a handle that transfer_start has set up. */
struct http_client;
void graph_call_describe(struct http_client *http, const struct config *config, struct arena *arena,
                         const struct graph_call *call);

/* Returns `text`, percent-encoded for a path segment or a query value (RFC 3986 2.3), in `arena`.
 */
char *graph_escape(struct arena *arena, struct slice text);

#endif
