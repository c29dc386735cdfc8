/* GET /{waba-id}/flows and GET /{flow-id}. All calls are made under the state lock. */
#ifndef SANDBOX_FLOWS_H
#define SANDBOX_FLOWS_H

#include "collection.h"

extern struct collection flows;

void flow_list(struct exchange *exchange, const struct account *account);
void flow_show(struct exchange *exchange, const char *id);
const struct account *flow_owner(const char *id);

/* Appends the i-th generated flow, for collection_put. */
void flow_make(struct bytes *out, const char *prefix, uint64_t i);

#endif
