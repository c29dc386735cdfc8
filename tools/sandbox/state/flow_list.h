/* GET /{waba-id}/flows and GET /{flow-id}. All calls are made under the lock of the state. */
#ifndef SANDBOX_FLOW_LIST_H
#define SANDBOX_FLOW_LIST_H

#include "state/graph_target.h"
#include "state/list_page.h"

/* All flows. */
extern struct collection flows;

/* Answers with a page of an account's flows. */
void flow_list(struct exchange *exchange, const struct target *target);

/* Answers with the flow of this id, which exists. */
void flow_show(struct exchange *exchange, const struct target *target);

/* Appends the Flow JSON of the flow with this id or name. Returns false when there is none. `arena`
 * takes temporary texts. */
bool flow_json(struct arena *arena, struct buffer *out, const char *flow);

/* Returns the account of the flow with this id, or NULL. */
const struct account *flow_owner(const char *id);

#endif
