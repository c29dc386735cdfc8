/* A minimal HTTP server: on loopback, one thread per connection, POST with Content-Length. */
#ifndef SOAK_LISTENER_H
#define SOAK_LISTENER_H

#include "base/slice.h"

struct incoming {
    const char *path;
    const char *head; /* request line and headers, lines ending in \r\n */
    struct slice body;
};

/* Handles a request: returns the status to answer, or 0 to reset the connection. May block. */
typedef int answerer(const struct incoming *request);

/* Listens on a free port and returns it. Each request is passed to `answer` in its own thread. */
int listener_start(answerer *answer);

/* Writes the value of a header to `value`; "" when it is absent. */
void incoming_header(const struct incoming *request, const char *name, char *value, size_t size);

#endif
