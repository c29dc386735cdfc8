/* The parameter `fields`, by which a client chooses members of a node, and by which it could read
 * other nodes that the platform access token may see. */
#ifndef SWITCHBOARD_GRAPH_FIELDS_H
#define SWITCHBOARD_GRAPH_FIELDS_H

#include "api/graph/graph_node.h"

/* Checks `fields` of the request for a node of this kind. Braces, which choose members of connected
 * nodes, are refused. Of objects, whose kind only the platform has, the names must be those of
 * media, templates and flows: an id may be that of a node of another kind. Returns 0, or -1 after
 * failing the request. */
int graph_check_fields(struct request *rq, enum graph_kind kind);

/* The same for a list of fields that stands elsewhere in the request. */
int graph_check_list(struct request *rq, struct slice list, enum graph_kind kind);

/* Whether `fields` of the request has this field. */
bool graph_asks_for(struct request *rq, const char *name);

#endif
