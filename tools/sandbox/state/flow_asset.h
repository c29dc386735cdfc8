/* The Flow JSON of a flow, and the URL at which it is downloaded without a token. All calls are
 * made under the lock of the state, those that change it under the write lock. */
#ifndef SANDBOX_FLOW_ASSET_H
#define SANDBOX_FLOW_ASSET_H

#include "state/collection.h"
#include "wire/exchange.h"

/* All of them; the id of an item is that of its flow. */
extern struct collection flow_assets;

/* Whether a further Flow JSON of that many bytes can be kept: it has at most 10 MiB, and all
 * together 256 MiB. */
bool flow_asset_fits(size_t bytes);

/* Keeps the Flow JSON of a flow. */
void flow_asset_put(const char *flow, struct slice bytes);

/* Keeps the Flow JSON of the flow `from`, if it has one, for the flow `to` too. */
void flow_asset_copy(const char *from, const char *to);

/* Deletes the Flow JSON of a flow. */
void flow_asset_remove(const char *flow);

/* Deletes all. */
void flow_asset_clear(void);

/* Appends the Flow JSON of the flow. Returns false when there is none. */
bool flow_asset_add(struct buffer *out, const char *flow);

/* Appends the assets of a flow to `out`: {data: [{name, asset_type, download_url}], paging}. */
void flow_asset_print(const struct exchange *exchange, struct buffer *out, const char *flow);

/* Whether the path is that of a download. */
bool flow_asset_is_download(const char *path);

/* Answers a download. */
void flow_asset_download(struct exchange *exchange);

#endif
