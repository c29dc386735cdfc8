/* The form by which the platform takes the Flow JSON of a flow (POST /FLOW_ID/assets). */
#ifndef SWITCHBOARD_ASSET_FORM_H
#define SWITCHBOARD_ASSET_FORM_H

#include "base/arena.h"
#include "base/slice.h"

/* Returns a multipart form whose part `file` has the bytes of `json` unchanged, and sets `*type` to
 * the Content-Type of the form. Both live in `arena`. */
struct slice graph_asset_form(struct arena *arena, struct slice json, const char **type);

#endif
