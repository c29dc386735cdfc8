/* Requests of clients that are passed on to the platform as they are: any method, path, query and
 * body. */
#ifndef SWITCHBOARD_GRAPH_RELAY_H
#define SWITCHBOARD_GRAPH_RELAY_H

#include "graph/call.h"

/* A request to pass on. */
struct graph_relay {
    const char *method; /* GET, POST or DELETE */
    const char *path;   /* after the version, percent-encoded: "1065/messages"; "": the root */
    struct slice query; /* sent byte for byte; n == 0: none */
    const char *token;  /* the platform access token; never logged */
    const char *scheme; /* of the header Authorization; NULL: Bearer */
    const char *offset; /* the value of the header file_offset, digits; NULL: it is not sent */
    const char *content_type; /* of the body; NULL: the header is not sent */
    struct slice body;        /* of a POST or DELETE, sent byte for byte; p == NULL: no body */
};

/* The headers of the platform's answers that clients use. Ends with NULL. */
extern const char *const graph_relay_headers[];

enum { GRAPH_RELAY_HEADERS = 4 };

/* The answer with what a client gets of its head. The strings live in the arena. */
struct graph_relayed {
    struct graph_answer answer;               /* retry_after is in it */
    const char *headers[GRAPH_RELAY_HEADERS]; /* in the order of graph_relay_headers; NULL: none */
};

/* Makes the call and waits for the answer, with the limits of graph_call. A POST without a body has
 * the length 0. Only a GET may be sent twice, when a reused connection was closed before its
 * answer. A query with a control character, a space or a `#` makes the answer a failure. */
void graph_relay(const struct config *config, struct arena *arena, const struct graph_relay *relay,
                 struct graph_relayed *relayed);

/* Makes a POST whose body is that of the source; relay->body is ignored. After the connection is
 * established, the call fails only when no byte is transferred for 30 s. The POST is sent at most
 * once. */
void graph_relay_stream(const struct config *config, struct arena *arena,
                        const struct graph_relay *relay, const struct graph_source *source,
                        struct graph_relayed *relayed);

#endif
