/* Tests whether the platform accepts connections. */
#ifndef SWITCHBOARD_ADMIN_PLATFORM_PROBE_H
#define SWITCHBOARD_ADMIN_PLATFORM_PROBE_H

#include "base/config.h"

/* Resolves the host of the configuration's graph_base_url and opens a TCP connection to it, within
 * 5 s in all. Returns NULL if that worked, else the error; `*peer` is the HOST:PORT of the URL.
 * Both are in the arena. */
const char *platform_probe(struct arena *arena, const struct config *config, const char **peer);

#endif
