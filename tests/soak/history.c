#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

_Noreturn void give_up(const char *what) {
    fprintf(stderr, "soak: %s: %s\n", what, errno ? strerror(errno) : "impossible");
    exit(1);
}

int history_open(const char *dir, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.tsv", dir, name);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        give_up(path);
    return file;
}

static void append(int file, const char *format, va_list values)
    __attribute__((format(printf, 2, 0)));

static void append(int file, const char *format, va_list values) {
    char *text;
    int n = vasprintf(&text, format, values);
    if (n < 0)
        give_up("memory");
    text[n] = '\n';
    if (write(file, text, (size_t)n + 1) != n + 1)
        give_up("history");
    free(text);
}

void history_line(int file, const char *format, ...) {
    va_list values;
    va_start(values, format);
    append(file, format, values);
    va_end(values);
}

void history_durable_line(int file, const char *format, ...) {
    va_list values;
    va_start(values, format);
    append(file, format, values);
    va_end(values);
    if (fdatasync(file) != 0)
        give_up("history");
}

char *history_hex(struct slice bytes) {
    static const char digits[] = "0123456789ABCDEF";
    char *hex = malloc(2 * bytes.n + 1);
    if (!hex)
        give_up("memory");
    for (size_t i = 0; i < bytes.n; i++) {
        hex[2 * i] = digits[(unsigned char)bytes.p[i] >> 4];
        hex[2 * i + 1] = digits[(unsigned char)bytes.p[i] & 15];
    }
    hex[2 * bytes.n] = '\0';
    return hex;
}

int64_t history_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sleep_ms(int64_t ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

struct dice dice_of(uint64_t seed, uint64_t stream) {
    return (struct dice){seed * 0x9e3779b97f4a7c15u + stream * 0xd1b54a32d192ed03u + 1};
}

/* splitmix64 */
unsigned throw_dice(struct dice *dice, unsigned sides) {
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ (z >> 31)) % sides);
}
