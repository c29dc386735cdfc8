/* The links in the platform's answers, replaced by links to the gateway (splice.h), and the
 * callbacks in those about phones and WABAs, replaced by the caller's (graph_callbacks.h):
 * `rewrite` functions of edges. If public_url is not set, an answer with such a link fails. */
#ifndef SWITCHBOARD_GRAPH_LINKS_H
#define SWITCHBOARD_GRAPH_LINKS_H

#include "api/graph/graph_forward.h"

/* Lists: links to other pages lead to the gateway, with the version of the request, and with the
 * API token if it stands in the query of the request. */
struct slice graph_rewrite_pages(struct request *rq, const struct graph_node *node,
                                 const struct graph_outcome *outcome);

/* The same for templates, whose flows are stored (template_flows.h). */
struct slice graph_rewrite_templates(struct request *rq, const struct graph_node *node,
                                     const struct graph_outcome *outcome);

/* Objects: the URL of a media object becomes a signed URL of the gateway (signed_url.h). */
struct slice graph_rewrite_object(struct request *rq, const struct graph_node *node,
                                  const struct graph_outcome *outcome);

#endif
