/* Internal to store_ingest: the rows that a message adds to the flow that it opens or replies to.
 */
#ifndef SWITCHBOARD_STORE_FLOW_REPLY_H
#define SWITCHBOARD_STORE_FLOW_REPLY_H

#include "store/ingest/ingest_update.h"

/* Inserts and counts the reply to a flow, or stores by what replies name a flow that is opened. */
bool flow_reply_add(struct ingest *in, const struct update_message *message,
                    const char *message_id);

#endif
