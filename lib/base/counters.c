#include "base/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_identity.h"
#include "base/write_all.h"

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "the counters need 64-bit atomic operations");

/* The layout of the file. Any change needs another version; so does one of counters_bounds. */
enum {
    VERSION = 1,
    LABEL_WORDS = COUNTERS_LABELS_SIZE / 8,
    MOST_PROBES = 64,
    TRIES = 64,
    PAGES = 64
};

static const char magic[8] = "SWBMETR";

struct header {
    char magic[8];
    uint32_t version;
    uint32_t slots;
    _Atomic uint64_t dropped;
    char unused[232];
};

/* The first process that counts a series claims a slot: it sets `key`, the hash of family and
 * labels. Then it writes the labels, which are the same whichever process writes them: so when it
 * is killed in between, the next process that counts the series completes the slot. */
struct slot {
    _Atomic uint64_t key; /* 0: free */
    _Atomic uint32_t is_named;
    _Atomic uint32_t family;
    _Atomic uint64_t labels[LABEL_WORDS];
    _Atomic uint64_t values[COUNTERS_VALUES];
};

struct file {
    struct header header;
    struct slot slots[COUNTERS_SLOTS];
};

_Static_assert(sizeof(struct slot) == 256, "a slot is four cache lines");
_Static_assert(sizeof(struct file) == COUNTERS_FILE_SIZE, "the size of the file");

const int64_t counters_bounds[COUNTERS_BOUNDS] = {1000,    2500,    5000,     10000,   25000,
                                                  50000,   100000,  250000,   500000,  1000000,
                                                  2500000, 5000000, 10000000, 30000000};

static struct file *table; /* NULL: nothing is counted */

/* --- a file that is truncated while it is mapped ---
 *
 * Access to a page beyond the end of the file raises SIGBUS, and so does the first write to a page
 * when a copy-on-write file system is full. Counting is then switched off in this process. */

static sigjmp_buf escape;
static volatile sig_atomic_t is_inside; /* this process is using the table */
static struct sigaction other_action;   /* for any other SIGBUS */

static void on_bus_error(int number) {
    if (!is_inside) {
        sigaction(number, &other_action, NULL); /* the access is repeated, and raises it again */
        return;
    }
    is_inside = 0;
    siglongjmp(escape, 1);
}

static void watch_bus_errors(void) {
    struct sigaction action = {.sa_handler = on_bus_error, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaction(SIGBUS, &action, &other_action);
}

/* A macro, because sigsetjmp must be called by a function that has not returned. Without the signal
 * mask it makes no system call. */
#define ENTER() (sigsetjmp(escape, 0) == 0 ? (is_inside = 1, true) : (table = NULL, false))

static void leave(void) {
    is_inside = 0;
}

/* --- the file --- */

/* Checks that the open file is a table of this version. Reads the header instead of mapping it: a
 * page less to fault in, for a CGI that counts in one. Returns 0, EBADMSG when it is not, or errno.
 */
static int check_table(int fd) {
    struct header header;
    const size_t known = offsetof(struct header, dropped);
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0)
        return errno == ESPIPE ? EINVAL : errno;
    ssize_t got = size == COUNTERS_FILE_SIZE ? pread(fd, &header, known, 0) : 0;
    if (got < 0)
        return errno;
    bool is_table = got == (ssize_t)known && memcmp(header.magic, magic, sizeof magic) == 0 &&
                    header.version == VERSION && header.slots == COUNTERS_SLOTS;
    return is_table ? 0 : EBADMSG;
}

/* Maps the open file; as check_table. */
static int map(int fd) {
    int failed = check_table(fd);
    if (failed)
        return failed;
    void *pages = mmap(NULL, COUNTERS_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    table = pages == MAP_FAILED ? NULL : pages;
    return table ? 0 : errno;
}

/* Writes an empty table to the new file `path`. The bytes are written rather than left out, because
 * the first access to a page for which the disk has no space would raise SIGBUS. */
static bool write_empty(const char *path) {
    enum { MODE = 0660 }; /* programs of several users count, by their common group */
    static struct file empty = {.header = {.version = VERSION, .slots = COUNTERS_SLOTS}};
    memcpy(empty.header.magic, magic, sizeof magic);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, MODE);
    if (fd < 0)
        return false;
    fchmod(fd, MODE); /* the umask may have cleared bits */
    bool is_written = write_all(fd, (struct slice){(const char *)&empty, sizeof empty});
    int failed = errno;
    close(fd);
    errno = failed;
    return is_written;
}

/* Creates the file under another name and links it, so that it is complete when it appears, and
 * that of several processes one creates it. Returns 0 or errno. */
static int create(const char *path) {
    char name[4200];
    snprintf(name, sizeof name, "%s.new-%ld", path, (long)getpid());
    unlink(name); /* of a killed process with the same number */
    int failed = write_empty(name) ? 0 : errno;
    if (!failed && link(name, path) != 0 && errno != EEXIST)
        failed = errno;
    unlink(name);
    return failed;
}

/* Renames the file `fd` that is not a table. Under the lock, so that no process renames the table
 * that another one has created meanwhile. Returns 0, EAGAIN when another process does it, or errno.
 */
static int move_away(int fd, const char *path) {
    char name[4200];
    struct stat file;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &file) != 0)
        return errno == EWOULDBLOCK ? EAGAIN : errno;
    if (!S_ISREG(file.st_mode))
        return EINVAL;
    if (!file_is_at(&file, path))
        return EAGAIN;
    snprintf(name, sizeof name, "%s.replaced", path);
    return rename(path, name) == 0 ? 0 : errno;
}

static int open_or_create(const char *path, bool *is_replaced) {
    int failed = EAGAIN;
    for (int i = 0; i < TRIES && (failed == 0 || failed == EAGAIN); i++) {
        if (failed == EAGAIN && i)
            usleep(1000);
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) {
            failed = errno == ENOENT ? create(path) : errno;
            continue;
        }
        failed = map(fd);
        const bool is_mapped = !failed, is_damaged = failed == EBADMSG;
        if (is_damaged)
            failed = move_away(fd, path);
        close(fd);
        if (is_mapped)
            return 0;
        *is_replaced = *is_replaced || (is_damaged && !failed);
    }
    return failed ? failed : EAGAIN;
}

void counters_open(const char *path, char problem[COUNTERS_PROBLEM_SIZE]) {
    bool is_replaced = false;
    problem[0] = '\0';
    if (!*path)
        return;
    watch_bus_errors();
    int failed = open_or_create(path, &is_replaced);
    if (failed)
        snprintf(problem, COUNTERS_PROBLEM_SIZE,
                 "nothing is counted for /metrics: cannot use metrics_file %.300s: %s", path,
                 failed == EINVAL ? "it is not a file" : strerror(failed));
    else if (is_replaced)
        snprintf(problem, COUNTERS_PROBLEM_SIZE,
                 "metrics_file %.300s was damaged or of another version: it was renamed to "
                 "NAME.replaced, and the counters begin at 0",
                 path);
}

bool counters_are_kept(void) {
    return table != NULL;
}

/* --- counting --- */

/* FNV-1a. The labels are chosen by this program, so no client can make hashes collide. */
static uint64_t hash(uint64_t h, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h ? h : 1;
}

/* Returns the first slot to try for a series: the first one in a page that depends on two labels
 * only, and not on the family. So a request that is counted by method, route and status, and timed
 * by method and route, touches one page. */
static size_t home(const char *labels) {
    enum { SLOTS_OF_PAGE = 4096 / sizeof(struct slot) };
    const char *end = strchr(labels, ' ');
    end = end ? strchr(end + 1, ' ') : NULL;
    size_t n = end ? (size_t)(end - labels) : strlen(labels);
    size_t page = (size_t)(hash(14695981039346656037u, labels, n) % PAGES);
    return page ? page * SLOTS_OF_PAGE - 1 : 0; /* the header takes the place of a slot */
}

static void name_slot(struct slot *slot, enum counters_family family, const char *labels) {
    uint64_t words[LABEL_WORDS] = {0};
    memcpy(words, labels, strlen(labels));
    for (size_t i = 0; i < LABEL_WORDS; i++)
        atomic_store_explicit(&slot->labels[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&slot->family, (uint32_t)family, memory_order_relaxed);
    atomic_store_explicit(&slot->is_named, 1, memory_order_release);
}

/* Returns the slot of the series; NULL when the table is full. */
static struct slot *find_slot(enum counters_family family, const char *labels) {
    const size_t n = strlen(labels);
    const uint64_t key = hash(14695981039346656037u + (uint64_t)family, labels, n);
    size_t i = home(labels);
    if (n >= COUNTERS_LABELS_SIZE)
        return NULL;
    for (int probe = 0; probe < MOST_PROBES; probe++, i = (i + 1) % COUNTERS_SLOTS) {
        struct slot *slot = &table->slots[i];
        uint64_t found = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (!found && atomic_compare_exchange_strong(&slot->key, &found, key))
            found = key;
        if (found != key)
            continue;
        if (!atomic_load_explicit(&slot->is_named, memory_order_relaxed))
            name_slot(slot, family, labels);
        return slot;
    }
    return NULL;
}

struct addition {
    enum counters_family family;
    const char *labels;
    size_t value;      /* its index */
    uint64_t n;        /* to add to it */
    uint64_t duration; /* to add to the sum; a counter has no such value */
};

static void add(_Atomic uint64_t *value, uint64_t n) {
    atomic_fetch_add_explicit(value, n, memory_order_relaxed);
}

static void apply(const struct addition *addition) {
    struct slot *slot = find_slot(addition->family, addition->labels);
    if (!slot) {
        add(&table->header.dropped, 1);
        return;
    }
    add(&slot->values[addition->value], addition->n);
    if (addition->duration)
        add(&slot->values[COUNTERS_SUM], addition->duration);
}

static void count(const struct addition *addition) {
    if (!table || !ENTER())
        return;
    apply(addition);
    leave();
}

void counters_add(enum counters_family family, const char *labels, uint64_t n) {
    const struct addition addition = {.family = family, .labels = labels, .n = n};
    count(&addition);
}

void counters_observe(enum counters_family family, const char *labels, int64_t microseconds) {
    size_t bucket = 0;
    while (bucket < COUNTERS_BOUNDS && microseconds > counters_bounds[bucket])
        bucket++;
    const struct addition addition = {family, labels, bucket, 1,
                                      microseconds > 0 ? (uint64_t)microseconds : 0};
    count(&addition);
}

/* --- reading --- */

static bool is_printable(const char *labels) {
    const char *end = memchr(labels, '\0', COUNTERS_LABELS_SIZE);
    for (const char *p = labels; end && p < end; p++)
        if (*p < 0x20 || *p > 0x7e)
            return false;
    return end != NULL;
}

static bool read_slot(struct slot *slot, struct counters_series *series) {
    uint64_t words[LABEL_WORDS];
    if (!atomic_load_explicit(&slot->key, memory_order_relaxed) ||
        !atomic_load_explicit(&slot->is_named, memory_order_acquire))
        return false;
    uint32_t family = atomic_load_explicit(&slot->family, memory_order_relaxed);
    for (size_t i = 0; i < LABEL_WORDS; i++)
        words[i] = atomic_load_explicit(&slot->labels[i], memory_order_relaxed);
    for (size_t i = 0; i < COUNTERS_VALUES; i++)
        series->values[i] = atomic_load_explicit(&slot->values[i], memory_order_relaxed);
    memcpy(series->labels, words, sizeof words);
    series->family = (enum counters_family)family;
    return family > 0 && family < COUNTERS_FAMILIES && is_printable(series->labels);
}

bool counters_next(size_t *at, struct counters_series *series) {
    volatile bool is_found = false; /* its value must survive siglongjmp */
    if (!table || !ENTER())
        return false;
    while (!is_found && *at < COUNTERS_SLOTS)
        is_found = read_slot(&table->slots[(*at)++], series);
    leave();
    return is_found;
}

uint64_t counters_dropped(void) {
    if (!table || !ENTER())
        return 0;
    uint64_t dropped = atomic_load_explicit(&table->header.dropped, memory_order_relaxed);
    leave();
    return dropped;
}
