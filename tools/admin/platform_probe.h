/* Whether the platform can be reached at all. */
#ifndef SWITCHBOARD_ADMIN_UPSTREAM_H
#define SWITCHBOARD_ADMIN_UPSTREAM_H

#include "base/arena.h"

/* Resolves the host of an http or https `url` and opens a TCP connection to it, within 5 s in all.
 * Returns NULL when it worked, else what did not; `*peer` is HOST:PORT as it was understood. */
const char *upstream_probe(struct arena *arena, const char *url, const char **peer);

#endif
