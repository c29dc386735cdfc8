/* Where requests come from and answers go to: plain CGI (RFC 3875) or FastCGI. The same executable
 * serves both; only transport.c knows which one it is. One request at a time per process.
 */
#ifndef SWITCHBOARD_TRANSPORT_H
#define SWITCHBOARD_TRANSPORT_H

#include <sys/types.h>

#include "base/slice.h"

/* How long a body may be waited for in all: so many seconds, and one more for each so many of its
 * bytes. Apache is stricter (apache.conf), so this is for what reaches a program without it. */
enum { TRANSPORT_PATIENCE_S = 30, TRANSPORT_LEAST_RATE = 10000 };

/* Waits for a request. Returns false when there will be no more: after the one request of a CGI,
 * or when a FastCGI process was asked to end (SIGTERM) or has served its share. */
bool transport_accept(void);

/* A CGI meta-variable of the request (RFC 3875 4.1), NULL when not set. Never argv: a query
 * string without `=` becomes argv of a CGI (RFC 3875 4.4). */
const char *transport_variable(const char *name);

/* Reads up to `n` bytes of the body. Returns their number, 0 at its end, -1 on failure. An end is
 * no proof that the body is complete: compare with CONTENT_LENGTH. When the request is late, what
 * has arrived is its end. */
ssize_t transport_read(void *bytes, size_t n);

/* Whether the request did not arrive within the time that it may take. */
bool transport_is_late(void);

/* Reads the rest of the body and drops it. A CGI that ends before it has read everything can lose
 * its answer under mod_cgid, so this happens on every path. Where that takes long and standard
 * input is a socket, as under mod_cgid, it is shut down, so that the web server sends no more. */
void transport_drain(void);

/* Writes all pieces. Returns 0, or -1 when the web server does not take them any more. */
int transport_write(const struct slice *pieces, size_t count);

/* Answers the request with head and body and nothing else, when nothing of an answer was written
 * yet, for a process that ends now: async-signal-safe. */
void transport_write_last(struct slice head, struct slice body);

/* Ends the request: what was written is on its way. */
void transport_finish(void);

/* Makes transport_accept return false after this request. */
void transport_stop(void);

/* Whether this process was started as a FastCGI responder: it serves many requests. */
bool transport_is_fastcgi(void);

#endif
