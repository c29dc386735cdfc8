/* The limit of CPU time of a request: CPU_LIMIT_SECONDS since its beginning or since the last part
 * of its body or answer, far more than any part needs. It ends endless loops, not long tables.
 * SIGPROF reports it (crash.h).
 */
#ifndef SWITCHBOARD_CPU_LIMIT_H
#define SWITCHBOARD_CPU_LIMIT_H

#ifndef CPU_LIMIT_SECONDS
#define CPU_LIMIT_SECONDS 15
#endif

/* Starts the limit, again if it has been started. Sanitizer builds have no limit. */
void cpu_limit_start(void);

#endif
