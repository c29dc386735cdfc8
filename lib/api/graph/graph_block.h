/* POST and DELETE of a line's edge block_users: blocks at the platform, which the gateway follows,
 * so that it refuses sends to the same persons without a call (store_block). */
#ifndef SWITCHBOARD_GRAPH_BLOCK_H
#define SWITCHBOARD_GRAPH_BLOCK_H

#include "api/graph/graph_node.h"

/* Handler of the edge. Passes the request on. For each user that the platform's answer lists as
 * blocked or unblocked and that is a contact of the account, blocks or unblocks the contact on the
 * line. A failure of that is only logged, because the platform has carried out the request. */
int graph_change_blocks(struct request *rq, const struct graph_node *node);

#endif
