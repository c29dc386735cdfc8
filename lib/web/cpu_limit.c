#include "web/cpu_limit.h"

#include <stddef.h>
#include <sys/time.h>

void cpu_limit_start(void) {
#ifndef __SANITIZE_ADDRESS__
    static const struct itimerval limit = {.it_value.tv_sec = CPU_LIMIT_SECONDS};
    setitimer(ITIMER_PROF, &limit, NULL);
#endif
}
