/* Reads the platform's webhook payloads into updates for the store (spec 6). */
#ifndef SWITCHBOARD_PAYLOAD_UPDATES_H
#define SWITCHBOARD_PAYLOAD_UPDATES_H

#include "base/json.h"
#include "store/ingest.h"

/* Reads every entry, change and element of `payload`, in order, into `*updates`. An element of an
 * unknown kind becomes an UPDATE_OTHER, so that it is stored too; a payload without `entry` has no
 * updates. The updates and their strings live in `arena`; their bodies are slices of the payload.
 * `now` (ms) replaces missing timestamps. Returns the number of updates. If that is more than
 * `most`, the updates beyond `most` were not read, and the number is an estimate. Time and memory
 * are proportional to the length of the payload. */
size_t updates_read(struct arena *arena, struct json payload, int64_t now, size_t most,
                    struct store_update **updates);

#endif
