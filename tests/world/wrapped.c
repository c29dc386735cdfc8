/* The C library's functions by which a process of a world sees time, random numbers, locks and the
 * disk. These replace the library's in the whole program, SQLite and libsodium included. The
 * simulator itself has the world's time too, and the system's disk. */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/process/confine.h"
#include "disk.h"
#include "process.h"

enum { LOCK_WAIT_US = 2 * 1000 * 1000, LOCK_PAUSE_US = 500 };

/* --- time --- */

static int64_t clock_us(clockid_t id) {
    const int64_t since = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE
                              ? world_shared->clock * 1000
                              : INT64_C(1000) * 1000 * 1000;
    return since + world_shared->now;
}

int clock_gettime(clockid_t id, struct timespec *time) {
    if (!world_shared)
        return (int)syscall(SYS_clock_gettime, id, time);
    const int64_t us = clock_us(id);
    *time = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

static void sleep_us(int64_t us) {
    if (world_self >= 0)
        process_wait(world_shared->now + us, false, false);
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    (void)left;
    sleep_us(wanted->tv_sec * 1000000 + wanted->tv_nsec / 1000);
    return 0;
}

int usleep(useconds_t us) {
    sleep_us(us);
    return 0;
}

unsigned sleep(unsigned seconds) {
    sleep_us(seconds * INT64_C(1000000));
    return 0;
}

/* The time limits of blocking calls: a wait for a lock has its own here (fcntl). */
int setitimer(__itimer_which_t which, const struct itimerval *restrict wanted,
              struct itimerval *restrict before) {
    (void)which, (void)wanted;
    if (before)
        *before = (struct itimerval){0};
    return 0;
}

/* --- random numbers --- */

static void fill(unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(process_random() >> 32);
}

ssize_t getrandom(void *bytes, size_t n, unsigned flags) {
    if (world_self < 0)
        return syscall(SYS_getrandom, bytes, n, flags);
    fill(bytes, n);
    return (ssize_t)n;
}

int getentropy(void *bytes, size_t n) {
    return getrandom(bytes, n, 0) == (ssize_t)n ? 0 : -1;
}

/* --- locks --- */

static int lock(int file, int command, void *argument) {
    const int attempt = command == F_OFD_SETLKW ? F_OFD_SETLK : F_SETLK;
    const int64_t until = world_shared->now + LOCK_WAIT_US;
    while (syscall(SYS_fcntl, file, attempt, argument) != 0) {
        if (errno != EAGAIN && errno != EACCES)
            return -1;
        if (world_shared->now >= until) {
            errno = EINTR;
            return -1;
        }
        sleep_us(LOCK_PAUSE_US);
    }
    return 0;
}

static int control(int file, int command, void *argument) {
    const bool is_lock = command == F_SETLK || command == F_OFD_SETLK || command == F_SETLKW ||
                         command == F_OFD_SETLKW;
    if (world_self >= 0 && is_lock)
        process_step();
    if (world_self >= 0 && (command == F_SETLKW || command == F_OFD_SETLKW))
        return lock(file, command, argument);
    return (int)syscall(SYS_fcntl, file, command, argument);
}

int fcntl64(int file, int command, ...);

int fcntl(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return control(file, command, argument);
}

int fcntl64(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return control(file, command, argument);
}

/* --- the disk --- */

ssize_t pwrite64(int file, const void *bytes, size_t n, off64_t at) {
    if (world_self >= 0) {
        process_step();
        if (world_shared->is_disk_full) {
            errno = ENOSPC;
            return -1;
        }
        disk_write(file, bytes, n, at);
    }
    return syscall(SYS_pwrite64, file, bytes, n, at);
}

ssize_t pwrite(int file, const void *bytes, size_t n, off_t at) {
    return pwrite64(file, bytes, n, at);
}

int ftruncate64(int file, off64_t size) {
    if (world_self >= 0) {
        process_step();
        disk_truncate(file, size);
    }
    return (int)syscall(SYS_ftruncate, file, size);
}

int ftruncate(int file, off_t size) {
    return ftruncate64(file, size);
}

int fdatasync(int file) {
    if (world_self >= 0) {
        process_step();
        disk_sync(file);
    }
    return 0;
}

int fsync(int file) {
    return fdatasync(file);
}

/* --- the processes are not confined: the filter would refuse what the simulator needs --- */

const char *confine_meaning(enum need need) {
    (void)need;
    return "everything";
}

struct confinement confine_support(void) {
    return (struct confinement){0};
}

void confine_memory(void) {
}

void confine(unsigned needs, bool listens, const char *config_path, const struct config *config) {
    (void)needs, (void)listens, (void)config_path, (void)config;
}

void confine_removable(const char *path) {
    (void)path;
}

void confine_detector(int out, const char *magic_file) {
    (void)out, (void)magic_file;
}
