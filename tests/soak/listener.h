/* The smallest HTTP server that will do: on loopback, a thread for each connection, POST with a
 * Content-Length. */
#ifndef SOAK_LISTENER_H
#define SOAK_LISTENER_H

#include "base/slice.h"

struct incoming {
    const char *path;
    const char *head; /* request line and headers, lines ending in \r\n */
    struct slice body;
};

/* Whoever answers: returns the status, or 0 to reset the connection. May take its time. */
typedef int answerer(const struct incoming *request);

/* Listens on a free port and returns it; requests go to `answer` from now on. */
int listener_start(answerer *answer);

/* A header's value, into `value`; "" when it is absent. */
void incoming_header(const struct incoming *request, const char *name, char *value, size_t size);

#endif
