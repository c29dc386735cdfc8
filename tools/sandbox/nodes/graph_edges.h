/* The table of all nodes and edges of the simulated platform. */
#ifndef SANDBOX_GRAPH_EDGES_H
#define SANDBOX_GRAPH_EDGES_H

#include "state/graph_target.h"

/* Every method of every node and edge, ended by a NULL method. */
extern const struct edge graph_edges[];

#endif
