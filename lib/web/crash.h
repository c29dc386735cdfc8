/* The end of a process that cannot go on: memory is exhausted, a signal such as SIGSEGV came, or a
 * request has computed for CRASH_CPU_SECONDS, which none needs. The log says which request it was,
 * the client gets 500 INTERNAL_ERROR (spec 7), and nothing half done goes on. Nothing here allocates
 * or takes a lock, since anything may be broken.
 */
#ifndef SWITCHBOARD_CRASH_H
#define SWITCHBOARD_CRASH_H

#include <stdbool.h>

#ifndef CRASH_CPU_SECONDS
#define CRASH_CPU_SECONDS 15
#endif

/* From now on signals that mean a fault are told of before they end the process. `program` names
 * it in the log and must stay. Sanitizer builds keep their own reports of such signals. */
void crash_watch(const char *program);

/* The request under way: its id, made of harmless characters, and whether its method is HEAD, so that
 * its answer has no body. NULL: there is none. */
void crash_note_request(const char *id, bool is_head);

/* Tells of `reason` and ends the process. */
_Noreturn void crash_exit(const char *reason);

#endif
