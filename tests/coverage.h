/* Forced into every file of a build that counts its lines: the counters are written by exit(3), and would be
 * lost where a process ends in another way. */
#ifndef SWITCHBOARD_COVERAGE_H
#define SWITCHBOARD_COVERAGE_H

#include <signal.h>
#include <unistd.h>

void __gcov_dump(void);

#define _exit(status) (__gcov_dump(), _exit(status))
#define raise(number) (__gcov_dump(), raise(number))

#endif
