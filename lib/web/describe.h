/* The description of an executable by itself: its routes and its permissions. */
#ifndef SWITCHBOARD_DESCRIBE_H
#define SWITCHBOARD_DESCRIBE_H

#include "web/request.h"

/* clang-format off */
/* Prints the routes of the service and its permissions on standard output, for a user who starts
 * the executable without a web server, for the reference and for the tests. Everything comes from
 * the tables. `argc`, `argv`: those of main. Returns the exit status: 0; 2 after a message on
 * standard error when an argument is unknown.
 *
 * Without an argument, it prints text:
 *
 *     switchboard NAME: a CGI executable; see apache.conf. Its routes:
 *       METHOD PATH
 *         requires  REQUIREMENT[, ...]    such as: a token or a session; no line when there is none
 *         body      KIND, at most N bytes json, raw, or file (no limit); no line without a body
 *         dispatches                      the members depend on the body
 *         trail     ACTION                of the row that it leaves in the trail; message: the row of
 *                                         the message is it; none (REASON)
 *         query     NAME: TYPE[, RULE]...
 *         member    PATH: TYPE[, RULE]... PATH is such as media.type, sections[].rows[].id
 *         one of    PATH...[, exactly]    at least one, or exactly one, of these members is required
 *     In addition to answering requests, it may:
 *       PERMISSION
 *
 * An executable with the platform's contract prints its edges instead (struct service): METHOD PATH
 * and, below it, the action that it takes.
 *
 * TYPE is string, integer, string or number, boolean, object, array, or array of strings. RULE is
 * required, may be empty, may be null, `at most N bytes`, `from N` and `to N` (the value of an
 * integer, the items of an array), `one of VALUE...`, `must be MEANING`, or, as the last one,
 * `as EXAMPLE`. Those of strings are of each item of an array of strings.
 *
 * With the argument --describe, it prints a JSON object:
 *
 *     {"executable": NAME,
 *      "may": [PERMISSION...],
 *      "failures": [{"status": 400, "error": "VALIDATION_ERROR"}...],  every failure there is
 *      "routes": [{"method": ..., "path": ..., "segments": [NAME...],
 *                  "requires": [REQUIREMENT...],
 *                  "body": KIND, "limit": BYTES,       "none" without a body; 0: no limit
 *                  "trail": ACTION,                    null: of GET; "message"; "none"
 *                  "no_trail": REASON,                 with "none" only
 *                  "query": [FIELD...], "members": [FIELD...], "one_of": [[PATH...]...],
 *                  "exclusive": [[PATH...]...],        those of one_of with ", exactly"
 *                  "kinds": [{"kind": NAME, "members": {NAME: TYPE...}}...]}]}
 *
 * FIELD is {path, type} and, each only where it applies, required (true), may_be_empty (true),
 * may_be_null (true), from, to, values (an array), longest (bytes), pattern, meaning (of the rule)
 * and example. `kinds` is empty unless the route dispatches: then it lists in their order the routes
 * below its path, and the members, with their types, by which each is chosen. An executable with the
 * platform's contract has no routes but `edges`, an array of {method, path, action}. */
/* clang-format on */
int describe(const struct service *service, int argc, char **argv);

#endif
