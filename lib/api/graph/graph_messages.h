/* POST /PHONE/messages of the platform's contract: messages, read receipts and typing indicators;
 * and POST /PHONE/marketing_messages, which takes marketing templates alone, in the same form.
 *
 * The platform gets the bytes of the request. A message that it accepts is recorded like the sends
 * of /v2 (sent_record.h); receipts are not. A request to a blocked contact, and a receipt for a
 * message of one, are refused with 403.
 *
 * `Idempotency-Key` works as on the sends of /v2: requests with the same key and the same bytes
 * are carried out once. The key belongs to the user and the line; the version in the path does not
 * matter. If a request with a key has no biz_opaque_callback_data, the gateway adds its own, by
 * which a status identifies a message whose answer was lost; it is the only change of a request.
 */
#ifndef SWITCHBOARD_GRAPH_MESSAGES_H
#define SWITCHBOARD_GRAPH_MESSAGES_H

#include "api/graph/graph_node.h"

/* Handler of the edge; the node is a line of the caller. */
int graph_post_message(struct request *rq, const struct graph_node *node);

#endif
