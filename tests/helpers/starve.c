/* starve: linked into an executable, it makes one of its allocations fail: those of the executable
 * and of every library it uses, since it takes the place of malloc, calloc and realloc.
 *
 *     STARVE_AT=N       the N-th allocation fails; from `main` on they are counted. 0: none
 *     STARVE_FOR=N      how many fail from there on; default 1, 0: all
 *     STARVE_OVER=N    allocations of up to N bytes are not counted; default 0
 *     STARVE_FILE=FILE  begins with two numbers: how many there were, how many of them failed.
 *                       Up to date at any time, of the children too
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

/* What the file holds: readable while it changes. */
struct tally {
    char made[20], space, failed[20], end;
};

static struct tally *tally;    /* NULL: nothing is counted */
static unsigned long at, last; /* the first and the last that fails; at 0: none */
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
    if (__gcov_dump) /* what counts lines writes them now, and cannot do without memory */
        tally = NULL;
    return status;
}

/* --- in the place of the C library's, or of a sanitizer's --- */

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
