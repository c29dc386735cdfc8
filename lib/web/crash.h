/* The end of a process that cannot continue: memory is exhausted, a signal such as SIGSEGV arrived,
 * or a request has reached its limit of CPU time (cpu_limit.h). The process logs the request,
 * answers 500 INTERNAL_ERROR (spec 7) and exits. Nothing here allocates memory or takes a lock,
 * because the heap and the locks may be broken.
 */
#ifndef SWITCHBOARD_CRASH_H
#define SWITCHBOARD_CRASH_H

#include <stdbool.h>

/* Installs handlers for the signals of faults, which log and answer before the signal ends the
 * process. `program` is its name in the log; it is not copied and must stay valid.
 * `has_platform_errors`: the answer is an error of the platform's form (graph_failure.h). Sanitizer
 * builds install no handlers: their runtime reports such signals. */
void crash_watch(const char *program, bool has_platform_errors);

/* Sets the current request for the log and the answer: its id, which is copied and must not need a
 * JSON escape, and whether its method is HEAD, whose answer has no body. Starts its CPU time limit.
 * `id` NULL: no request. */
void crash_set_request(const char *id, bool is_head);

/* Logs `reason`, answers the current request with 500 and ends the process. */
_Noreturn void crash_exit(const char *reason);

#endif
