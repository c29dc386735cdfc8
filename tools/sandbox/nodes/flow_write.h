/* The creation, change, publication and deletion of flows by clients. Called under the write lock
 * of the state. */
#ifndef SANDBOX_FLOW_WRITE_H
#define SANDBOX_FLOW_WRITE_H

#include "state/graph_target.h"

/* POST /{waba-id}/flows: name, categories, and further flow_json, publish, clone_flow_id,
 * endpoint_uri. */
void flow_create(struct exchange *exchange, const struct target *target);

/* POST /{flow-id}: name, categories, endpoint_uri. */
void flow_change(struct exchange *exchange, const struct target *target);

/* POST /{flow-id}/publish and /{flow-id}/deprecate, and DELETE /{flow-id}. */
void flow_publish(struct exchange *exchange, const struct target *target);
void flow_deprecate(struct exchange *exchange, const struct target *target);
void flow_delete(struct exchange *exchange, const struct target *target);

/* GET and POST /{flow-id}/assets. */
void flow_assets_show(struct exchange *exchange, const struct target *target);
void flow_assets_put(struct exchange *exchange, const struct target *target);

#endif
