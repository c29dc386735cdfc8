/* The description of an executable by itself: its routes and its permissions. */
#ifndef SWITCHBOARD_DESCRIBE_H
#define SWITCHBOARD_DESCRIBE_H

#include "web/request.h"

/* clang-format off */
/* Prints the routes of the service and its permissions on standard output, for a user who starts
 * the executable without a web server and for the tests. Everything comes from the tables. Returns
 * 0, the exit status. The form:
 *
 *     switchboard NAME: a CGI executable; see apache.conf. Its routes:
 *       METHOD PATH
 *         requires  REQUIREMENT...        token, line, signature; no line when there is none
 *         body      KIND, at most N bytes json, raw, or file (no limit); no line without a body
 *         dispatches                      the members depend on the body
 *         query     NAME: TYPE[, RULE]...
 *         member    PATH: TYPE[, RULE]... PATH is such as media.type, sections[].rows[].id
 *         one of    PATH...[, exactly]    at least one, or exactly one, of these members is required
 *     Besides answering requests, it may:
 *       PERMISSION
 *
 * TYPE is string, integer, string or number, boolean, object, or array. RULE is required, may be empty,
 * checked (by code), `from N` and `to N` (the value of an integer, the items of an array),
 * `one of VALUE...`, or, as the last one, `as EXAMPLE`. */
/* clang-format on */
int describe_service(const struct service *service);

#endif
