#include "base/counters.h"

#include <stdatomic.h>
#include <string.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "the counters need 64-bit atomic operations");

/* The layout of the file. Any change needs another version; so does one of counters_bounds. */
enum {
    VERSION = 1,
    LABEL_WORDS = COUNTERS_LABELS_SIZE / 8,
    MOST_PROBES = 64,
    PAGE = 4096,
    PAGES = COUNTERS_FILE_SIZE / PAGE
};

struct header {
    struct mapped_header kind;
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

void counters_open(const char *path, char problem[MAPPED_FILE_PROBLEM_SIZE]) {
    static const struct mapped_kind kind = {
        .header = {.magic = "SWBMETR", .version = VERSION, .slots = COUNTERS_SLOTS},
        .size = sizeof *table,
        .key = "metrics_file",
        .lost = "nothing is counted for /metrics",
        .anew = "the counters begin at 0"};
    table = mapped_file_open(path, &kind, problem);
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
    enum { SLOTS_OF_PAGE = PAGE / sizeof(struct slot) };
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

static void add(_Atomic uint64_t *value, uint64_t n) {
    atomic_fetch_add_explicit(value, n, memory_order_relaxed);
}

/* Returns the slot of the series; NULL when the table is full. */
static struct slot *find_slot(enum counters_family family, const char *labels) {
    const size_t n = strlen(labels);
    const uint64_t key = hash(14695981039346656037u + (uint64_t)family, labels, n);
    size_t i = home(labels);
    if (n >= COUNTERS_LABELS_SIZE)
        return NULL;
    /* The first access to the page writes, so that it costs one page fault. Reading it first would
     * map it and its neighbours without the right to write. */
    add(&table->slots[i].values[0], 0);
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

/* Adds `n` to a value of the series, and `duration` to its sum; a counter has no sum. */
static void count(enum counters_family family, const char *labels, size_t value, uint64_t n,
                  uint64_t duration) {
    if (!table || !MAPPED_FILE_ENTER(table))
        return;
    struct slot *slot = find_slot(family, labels);
    add(slot ? &slot->values[value] : &table->header.dropped, slot ? n : 1);
    if (slot && duration)
        add(&slot->values[COUNTERS_SUM], duration);
    mapped_file_leave();
}

void counters_add(enum counters_family family, const char *labels, uint64_t n) {
    count(family, labels, 0, n, 0);
}

void counters_observe(enum counters_family family, const char *labels, int64_t microseconds) {
    size_t bucket = 0;
    while (bucket < COUNTERS_BOUNDS && microseconds > counters_bounds[bucket])
        bucket++;
    count(family, labels, bucket, 1, microseconds > 0 ? (uint64_t)microseconds : 0);
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
    if (!table || !MAPPED_FILE_ENTER(table))
        return false;
    while (!is_found && *at < COUNTERS_SLOTS)
        is_found = read_slot(&table->slots[(*at)++], series);
    mapped_file_leave();
    return is_found;
}

uint64_t counters_dropped(void) {
    if (!table || !MAPPED_FILE_ENTER(table))
        return 0;
    uint64_t dropped = atomic_load_explicit(&table->header.dropped, memory_order_relaxed);
    mapped_file_leave();
    return dropped;
}
