/* Passing requests on to the platform, and its answers back. */
#ifndef SWITCHBOARD_GRAPH_FORWARD_H
#define SWITCHBOARD_GRAPH_FORWARD_H

#include "api/graph/graph_node.h"
#include "graph/relay.h"

/* An answer of the platform, and the account whose token it was given for. */
struct graph_outcome {
    struct graph_relayed relayed;
    const struct store_account *account;
    const char *token;
};

/* Returns the request to pass on for a node: method, edge, query and body of `rq`. */
struct graph_relay graph_outgoing(struct request *rq, const struct graph_node *node);

/* Makes the call with the token of the node's account; for an object, with that of each of its
 * accounts in turn, until one gets an answer that is no 4xx. If all get a 4xx, the outcome is the
 * first that is not graph_is_elsewhere, or the last. `relay->token` is set here. Returns 0 with any
 * complete answer, or -1 after failing the request. */
int graph_ask(struct request *rq, const struct graph_node *node, struct graph_relay *relay,
              struct graph_outcome *outcome);

/* Fails the request for a call that got no answer. Returns -1. */
int graph_fail_unanswered(struct request *rq, const struct graph_relay *relay,
                          const struct graph_answer *answer);

/* Replies with the platform's status, its headers for clients (graph_relay_headers, Retry-After)
 * and `body`: the platform's, or what was made of it. Fails the request when the answer is a
 * redirection, its body is not JSON, or the body holds the platform access token. */
int graph_reply(struct request *rq, const struct graph_outcome *outcome, struct slice body);

/* graph_outgoing, graph_ask, and graph_reply with the body that the edge's `rewrite` makes. */
int graph_forward(struct request *rq, const struct graph_node *node);

/* Reads the object from the platform, and sets its kind to what its members show, and its account
 * to the one that has it. Returns 0, or -1 after failing the request: graph_fail_unknown
 * when it is none of GRAPH_OBJECT. Returns 1 after replying with an error of the platform. */
int graph_identify(struct request *rq, struct graph_node *node);

#endif
