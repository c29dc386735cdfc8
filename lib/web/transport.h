/* Receives requests and sends answers by plain CGI (RFC 3875) or FastCGI. The same executable
 * serves both. A process handles one request at a time.
 */
#ifndef SWITCHBOARD_TRANSPORT_H
#define SWITCHBOARD_TRANSPORT_H

#include <sys/types.h>

#include "base/slice.h"

/* The time limit for all reads of a body: TRANSPORT_TIMEOUT_S seconds, and one second more for each
 * TRANSPORT_LEAST_RATE bytes received. Apache's limits are stricter (apache.conf): these are for
 * clients that reach a program without Apache. */
enum { TRANSPORT_TIMEOUT_S = 30, TRANSPORT_LEAST_RATE = 10000 };

/* Waits for a request. Returns false when there are no more: after the one request of a CGI, or
 * when a FastCGI process got SIGTERM, has served its number of requests, or its executable was
 * replaced. A FastCGI process closes the connection after each request, except when the web server
 * keeps the connection and a pool takes it back (web/next_connection.h). */
bool transport_accept(void);

/* Returns a CGI meta-variable of the request (RFC 3875 4.1), NULL when not set. Executables never
 * read argv, because a query string without `=` becomes argv of a CGI (RFC 3875 4.4). */
const char *transport_variable(const char *name);

/* Reads up to `n` bytes of the body. Returns their number, 0 at its end, -1 on failure. The end
 * does not prove that the body is complete: compare its length with CONTENT_LENGTH. After the time
 * limit the body ends with the bytes that have arrived. */
ssize_t transport_read(void *bytes, size_t n);

/* Whether the request exceeded its time limit. */
bool transport_is_late(void);

/* Reads the rest of the body and drops it. Every request needs this: a CGI that exits before it has
 * read the whole body can lose its answer under mod_cgid. If a CGI has not finished after a second
 * and standard input is a socket, as under mod_cgid, it shuts the socket down, so that the web
 * server stops sending. */
void transport_drain(void);

/* Writes all pieces, in order. Returns 0, or -1 when the web server no longer accepts bytes. */
int transport_write(const struct slice *pieces, size_t count);

/* Writes head and body as the complete answer, unless a part of an answer was already written. For
 * a process that is about to end; async-signal-safe. */
void transport_write_last(struct slice head, struct slice body);

/* Ends the request and flushes the answer. */
void transport_finish(void);

/* Makes transport_accept return false after this request. */
void transport_stop(void);

/* Makes a FastCGI process end while it waits for a request, when the other end closes the socket
 * `connection`; -1: there is none. For a process that could not connect again: instead of it a new
 * one serves the next request. The caller owns the socket. */
void transport_end_with(int connection);

/* Whether this process was started as a FastCGI responder, which serves many requests. */
bool transport_is_fastcgi(void);

#endif
