/* Included in every file of a coverage build (gcc -include). gcov writes its counters in exit(3);
 * these macros write them before a process ends in another way. */
#ifndef SWITCHBOARD_COVERAGE_H
#define SWITCHBOARD_COVERAGE_H

#include <signal.h>
#include <unistd.h>

void __gcov_dump(void);

#define _exit(status) (__gcov_dump(), _exit(status))
#define raise(number) (__gcov_dump(), raise(number))

#endif
