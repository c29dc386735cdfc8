/* The platform's webhook payloads, read into the store's terms (spec 6). */
#ifndef SWITCHBOARD_INBOUND_H
#define SWITCHBOARD_INBOUND_H

#include "base/json.h"
#include "store/ingest.h"

/* Reads every entry, change and element of `payload`, in order. What is not understood becomes an
 * UPDATE_OTHER, so that nothing is lost; a payload of another shape gives no updates. The updates
 * and their strings live in `arena`; bodies are slices of the payload. `now` stands in for missing
 * timestamps. Returns the number of updates; where that is more than `most`, those beyond it were
 * counted roughly and not read. Time and memory grow with the payload's length alone. */
size_t inbound_read(struct arena *arena, struct json payload, int64_t now, size_t most,
                    struct store_update **updates);

#endif
