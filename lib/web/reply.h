/* Access to the finished answer before it is written, and its fixed texts, which reply.c and
 * crash.c write; the other functions of reply.c are in request.h. */
#ifndef SWITCHBOARD_REPLY_H
#define SWITCHBOARD_REPLY_H

#include "web/request.h"

#define REPLY_JSON "application/json; charset=utf-8"

/* The header block of an answer (RFC 3875 6.3), in this order; it ends with an empty line. The
 * length follows REPLY_LENGTH. */
#define REPLY_STATUS(status, reason) "Status: " status " " reason "\r\n"
#define REPLY_TYPE(type)             "Content-Type: " type "\r\n"
#define REPLY_LENGTH                 "Content-Length: "

/* The headers of every answer; the request's id follows. */
#define REPLY_COMMON "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: "

/* The beginning of the error envelope (spec 2.1); the message, as a JSON string, follows. */
#define REPLY_ERROR(error) "{\"success\":false,\"error\":\"" error "\",\"message\":"

/* Adds `WWW-Authenticate`, which every 401 must have (RFC 9110 15.5.2): with the scheme Bearer on
 * routes that take a token, Session on those of the session and on the login, which has no guard.
 * A guard that requires neither adds its own, or none, as that of the platform's signature, for
 * which HTTP has no scheme. */
void reply_challenge(struct request *rq);

/* The status and the `error` code of a failure. */
int reply_status(enum failure_code code);
const char *reply_error(enum failure_code code);

/* If the request has failed, makes the error envelope (spec 2.1), or what the service's `settle`
 * makes, its answer; a second call changes nothing. Returns the answer's status. */
int reply_settle(struct request *rq);

/* Returns the body of the settled answer as one slice, in the request's arena. */
struct slice reply_bytes(struct request *rq);

/* Writes the settled answer in one call. Returns the length of its body in bytes. */
size_t reply_write(struct request *rq);

/* Writes every failure (enum failure_code), an array of {"status", "error"}. `name`: as for
 * json_write_array. */
void reply_write_failures(struct json_writer *out, const char *name);

#endif
