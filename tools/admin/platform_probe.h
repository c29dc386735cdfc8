/* Tests whether the platform accepts connections. */
#ifndef SWITCHBOARD_ADMIN_PLATFORM_PROBE_H
#define SWITCHBOARD_ADMIN_PLATFORM_PROBE_H

#include "base/arena.h"

/* Resolves the host of an http or https `url` and opens a TCP connection to it, within 5 s in all.
 * Returns NULL if that worked, else the error; `*peer` is the HOST:PORT of the URL. Both are in the
 * arena. */
const char *platform_probe(struct arena *arena, const char *url, const char **peer);

#endif
