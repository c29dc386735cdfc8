/* Calls of the platform by commands. */
#ifndef SWITCHBOARD_ADMIN_PLATFORM_CALL_H
#define SWITCHBOARD_ADMIN_PLATFORM_CALL_H

#include "graph/call.h"

struct invocation;

/* Makes the call; `context` is the invocation. For struct graph_asker. */
void platform_ask(void *context, const struct graph_call *call, struct graph_answer *answer);

/* Prints why the answer is not the `expected`, such as "list of flows". Returns EXIT_FAILED. */
int platform_fail(struct invocation *call, const struct graph_answer *answer, const char *expected);

#endif
