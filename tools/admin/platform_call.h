/* Calls of the platform by commands, and the test whether it accepts connections. */
#ifndef SWITCHBOARD_ADMIN_PLATFORM_CALL_H
#define SWITCHBOARD_ADMIN_PLATFORM_CALL_H

#include "graph/call.h"

struct invocation;

/* Makes the call; `context` is the invocation. For struct graph_asker. */
void platform_ask(void *context, const struct graph_call *call, struct graph_answer *answer);

/* Prints why the answer is not the `expected`, such as "list of flows". Returns EXIT_FAILED. */
int platform_fail(struct invocation *call, const struct graph_answer *answer, const char *expected);

/* Resolves the host of the configuration's graph_base_url and opens a TCP connection to it, within
 * 5 s in all. Returns NULL if that worked, else the error; `*peer` is the HOST:PORT of the URL.
 * Both are in the arena. */
const char *platform_probe(struct arena *arena, const struct config *config, const char **peer);

#endif
