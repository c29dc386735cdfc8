/* starve: linked into an executable, makes chosen allocations fail. It replaces malloc, calloc and
 * realloc, so it affects the allocations of the executable and of every library that it uses.
 *
 *     STARVE_AT=N       the N-th allocation fails, counted from the start of `main`; 0: none
 *     STARVE_FOR=N      how many allocations fail from there on; default 1, 0: all
 *     STARVE_OVER=N     allocations of up to N bytes are not counted; default 0
 *     STARVE_FILE=FILE  receives two numbers: allocations made, allocations failed. They are always
 *                       up to date and include those of child processes
 *
 * The executable is linked with -Wl,--wrap=main.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The content of STARVE_FILE, a text that can be read while it changes. */
struct tally {
    char made[20], space, failed[20], end;
};

static struct tally *tally;    /* NULL: allocations are not counted */
static unsigned long at, last; /* the first and last allocation that fail; at 0: none */
static size_t over;
static atomic_ulong count;

static void write_number(char digits[20], unsigned long number) {
    for (size_t i = 20; i-- > 0; number /= 10)
        digits[i] = (char)('0' + number % 10);
}

static bool must_fail(size_t size) {
    static atomic_ulong failed;
    if (!tally || size <= over)
        return false;
    unsigned long number = ++count;
    write_number(tally->made, number);
    if (!at || number < at || number > last)
        return false;
    write_number(tally->failed, ++failed);
    errno = ENOMEM;
    return true;
}

static unsigned long number_from(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void open_tally(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof *tally) == 0)
        memory = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        perror(path);
        exit(2);
    }
    close(fd);
    memset(memory, '0', sizeof *tally);
    tally = memory;
    tally->space = ' ';
    tally->end = '\n';
}

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
void __gcov_dump(void) __attribute__((weak));

int __wrap_main(int argc, char **argv) {
    const char *path = getenv("STARVE_FILE");
    unsigned long many = number_from("STARVE_FOR", 1);
    at = number_from("STARVE_AT", 0);
    last = many ? at + many - 1 : ~0UL;
    over = number_from("STARVE_OVER", 0);
    if (path && *path)
        open_tally(path);
    int status = __real_main(argc, argv);
    if (__gcov_dump) /* a coverage build writes its counters after main, and needs memory for it */
        tally = NULL;
    return status;
}

/* --- replacements of the functions of the C library or of a sanitizer --- */

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

void *malloc(size_t size) {
    static void *(*real_malloc)(size_t);
    if (!real_malloc)
        *(void **)&real_malloc = real("malloc");
    return must_fail(size) ? NULL : real_malloc(size);
}

void *calloc(size_t many, size_t size) {
    static void *(*real_calloc)(size_t, size_t);
    if (!real_calloc)
        *(void **)&real_calloc = real("calloc");
    return must_fail(many * size) ? NULL : real_calloc(many, size);
}

void *realloc(void *p, size_t size) {
    static void *(*real_realloc)(void *, size_t);
    if (!real_realloc)
        *(void **)&real_realloc = real("realloc");
    return must_fail(size) ? NULL : real_realloc(p, size);
}
