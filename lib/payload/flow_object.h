/* Reads the platform's flow objects into rows for the store (spec 2.6). */
#ifndef SWITCHBOARD_FLOW_H
#define SWITCHBOARD_FLOW_H

#include "base/json.h"
#include "store/flow.h"

/* Reads a flow object. Returns false when it has no id or no name and so cannot be stored. `status`
 * is "" when the object has none; `validation` is its validation_errors, [] when it has none. The
 * strings live in `arena`. */
bool flow_read(struct arena *arena, struct json object, struct store_flow *flow);

/* Reads the flow objects of an array, except those that flow_read rejects, into `*flows`, in
 * `arena`. Returns their number. */
size_t flow_read_all(struct arena *arena, struct json items, struct store_flow **flows);

#endif
