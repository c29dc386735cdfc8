/* The upstream client: calls of the platform's Graph API over libcurl. One connection per process,
 * kept open where the process lives on. It decides nothing: what an answer means to our client is
 * upstream.h's business.
 */
#ifndef SWITCHBOARD_GRAPH_H
#define SWITCHBOARD_GRAPH_H

#include "base/config.h"
#include "graph/answer.h"

struct graph_call {
    const char *method; /* GET or POST */
    const char *path;   /* what follows the version, percent-encoded: "1065/messages" */
    const char *token;  /* the platform access token; never logged */
    struct slice body;  /* of a POST; JSON */
};

/* Loads the modules that name resolution and TLS are configured to use. Before confine. */
void graph_prepare(void);

/* Makes the call and waits: 5 s to connect, 30 s in all. The body may be at most 16 MB. TLS is
 * verified; redirects are not followed, proxies of the environment not used; a POST is never
 * sent twice. Strings and body live in `arena`. */
void graph_call(const struct config *config, struct arena *arena, const struct graph_call *call,
                struct graph_answer *answer);

/* `text` percent-encoded for a path segment or a query value (RFC 3986 2.3). */
char *graph_escape(struct arena *arena, struct slice text);

#endif
