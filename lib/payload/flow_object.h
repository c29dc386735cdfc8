/* The platform's flow objects, as rows to keep (spec 2.6). */
#ifndef SWITCHBOARD_FLOW_H
#define SWITCHBOARD_FLOW_H

#include "base/json.h"
#include "store/flow.h"

/* Reads a flow object. False when it lacks an id or a name: then it is passed on and not kept.
 * `status` is empty where there is none; `validation` is the platform's validation_errors, [] where
 * there are none. */
bool flow_read(struct arena *arena, struct json object, struct store_flow *flow);

/* Reads all of an array; returns their number. */
size_t flow_read_all(struct arena *arena, struct json items, struct store_flow **flows);

#endif
