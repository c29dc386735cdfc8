/* GET /?ids=A,B: several nodes in one answer. */
#ifndef SWITCHBOARD_GRAPH_IDS_H
#define SWITCHBOARD_GRAPH_IDS_H

#include "api/graph/graph_node.h"

/* Handler of GET of the root. Reads each of at most 20 nodes from the platform, with the other
 * parameters of the query, and replies with an object of them by id; the first error of the
 * platform is the whole reply. Without `ids` the request fails, as at the platform. */
int graph_get_root(struct request *rq, const struct graph_node *node);

#endif
