/* The JSON of an opt-out: who gets no marketing. */
#ifndef SWITCHBOARD_OPT_OUT_JSON_H
#define SWITCHBOARD_OPT_OUT_JSON_H

#include "base/json.h"
#include "store/opt_out.h"

/* Writes `{identity, source, since}`, a value of the open array. */
void opt_out_json_write(struct json_writer *out, const struct store_opt_out *row);

#endif
