/* ahead: a library to be preloaded, which sets the clock of a program ahead by AHEAD_MS. It reads
 * the variable before the program clears its environment, as Switchboard's programs do, for which
 * faketime(1) does not work. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int reader(clockid_t id, struct timespec *time);

static reader *read_clock;
static long ahead_ms;

__attribute__((constructor)) static void prepare(void) {
    const char *value = getenv("AHEAD_MS");
    /* POSIX lets a symbol's address become that of a function */
    *(void **)&read_clock = dlsym(RTLD_NEXT, "clock_gettime");
    ahead_ms = value ? strtol(value, NULL, 10) : 0;
}

int clock_gettime(clockid_t id, struct timespec *time) {
    if (!read_clock)
        prepare();
    const int failed = read_clock(id, time);
    if (!failed && id == CLOCK_REALTIME) {
        time->tv_sec += ahead_ms / 1000;
        time->tv_nsec += ahead_ms % 1000 * 1000000;
        time->tv_sec += time->tv_nsec / 1000000000;
        time->tv_nsec %= 1000000000;
    }
    return failed;
}
