/* lib/base/counters.h */
#include "base/counters.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PROCESSES = 8, TURNS = 200000, REPLACEMENTS = 50 };

static char directory[] = "/tmp/switchboard-counters-XXXXXX";
static char path[64], replaced[80];

/* The number of concurrent processes that have started; they wait for each other, so that they run
 * at the same time. */
static _Atomic int *started;

static void wait_for_all(void) {
    atomic_fetch_add(started, 1);
    while (atomic_load(started) < PROCESSES)
        sched_yield();
}

/* Runs `run` in a process of its own, because counters_open maps the file for good. Returns how the
 * process ended, as waitpid(2). */
static int in_child(void (*run)(void)) {
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        run();
        _exit(check_failures());
    }
    waitpid(pid, &status, 0);
    return status;
}

static void open_table(void) {
    char problem[MAPPED_FILE_PROBLEM_SIZE];
    counters_open(path, problem);
    check(counters_are_kept() && !*problem, "the file is mapped: %s", problem);
}

static struct counters_series find(enum counters_family family, const char *labels) {
    struct counters_series series;
    for (size_t at = 0; counters_next(&at, &series);)
        if (series.family == family && strcmp(series.labels, labels) == 0)
            return series;
    return (struct counters_series){.labels = "none"};
}

static uint64_t count_of(enum counters_family family, const char *labels) {
    return find(family, labels).values[0];
}

/* Concurrent processes claim the same slots and lose no addition; each bucket is exact. */
static void count_much(void) {
    char labels[100][COUNTERS_LABELS_SIZE];
    for (int i = 0; i < 100; i++)
        snprintf(labels[i], sizeof labels[i], "GET /route/%d 200", i);
    wait_for_all();
    open_table();
    for (int i = 0; i < TURNS; i++) {
        counters_add(COUNTERS_REQUESTS, labels[i % 100], 1);
        counters_observe(COUNTERS_REQUEST_TIME, "GET /route",
                         counters_bounds[i % COUNTERS_BOUNDS] + 1);
    }
}

static void check_counts(void) {
    struct counters_series row;
    size_t series = 0;
    uint64_t sum = 0, total = 0;
    open_table();
    for (size_t at = 0; counters_next(&at, &row); series++)
        total += row.family == COUNTERS_REQUESTS ? row.values[0] : 0;
    check(series == 101, "%zu series", series);
    check(total == (uint64_t)PROCESSES * TURNS, "%llu additions", (unsigned long long)total);
    check(count_of(COUNTERS_REQUESTS, "GET /route/99 200") == PROCESSES * TURNS / 100,
          "one series");
    row = find(COUNTERS_REQUEST_TIME, "GET /route");
    check(row.values[0] == 0, "a duration above the first bound is in the second bucket");
    for (int i = 0; i < TURNS; i++)
        sum += (uint64_t)(counters_bounds[i % COUNTERS_BOUNDS] + 1) * PROCESSES;
    check(row.values[COUNTERS_SUM] == sum, "the sum of the durations");
    for (size_t i = 0, all = 0; i <= COUNTERS_BOUNDS; i++)
        check((all += row.values[i]) == 0 || i < COUNTERS_BOUNDS || all == PROCESSES * TURNS,
              "all durations are in a bucket");
    check(counters_dropped() == 0, "none is dropped");
}

static void check_concurrency(void) {
    fflush(stdout);
    *started = 0;
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            count_much();
            _exit(check_failures());
        }
    for (int status; wait(&status) > 0;)
        check(status == 0, "a process that counts ends with %d", status);
    check(in_child(check_counts) == 0, "the counts");
}

/* Each bound belongs to its bucket; a clock that was set back gives 0. */
static void check_bounds(void) {
    static const int64_t values[] = {-5, 0, 1, 1000, 1001, 30000000, 30000001, INT64_MAX};
    static const size_t buckets[] = {
        0, 0, 0, 0, 1, COUNTERS_BOUNDS - 1, COUNTERS_BOUNDS, COUNTERS_BOUNDS};
    char labels[16];
    open_table();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(labels, sizeof labels, "%zu", i);
        counters_observe(COUNTERS_UPSTREAM_TIME, labels, values[i]);
        struct counters_series row = find(COUNTERS_UPSTREAM_TIME, labels);
        for (size_t k = 0; k <= COUNTERS_BOUNDS; k++)
            check(row.values[k] == (k == buckets[i]), "value %zu, bucket %zu", i, k);
    }
}

/* A table that is full drops further series, counts that, and keeps the series that it has. */
static void check_full(void) {
    char labels[COUNTERS_LABELS_SIZE + 20];
    struct counters_series row;
    size_t series = 0;
    open_table();
    counters_add(COUNTERS_CRASHES, "first", 5);
    for (int i = 0; i < 5000; i++) {
        snprintf(labels, sizeof labels, "program-%d", i);
        counters_add(COUNTERS_STARTS, labels, 1);
    }
    for (size_t at = 0; counters_next(&at, &row);)
        series++;
    check(series > COUNTERS_SLOTS * 9 / 10 && series <= COUNTERS_SLOTS, "%zu series", series);
    check(counters_dropped() == 5001 - series, "%llu dropped",
          (unsigned long long)counters_dropped());
    counters_add(COUNTERS_CRASHES, "first", 2);
    check(count_of(COUNTERS_CRASHES, "first") == 7, "a known series is counted still");
    uint64_t before = counters_dropped();
    memset(labels, 'x', COUNTERS_LABELS_SIZE);
    labels[COUNTERS_LABELS_SIZE] = '\0';
    counters_add(COUNTERS_CRASHES, labels, 1);
    check(counters_dropped() == before + 1, "labels that are too long are dropped");
}

/* A process that was killed between its claim of a slot and the writing of the labels: the next one
 * completes the slot. The slot's second member is cleared to produce that state. */
static void check_killed_claim(void) {
    open_table();
    counters_add(COUNTERS_CRASHES, "killed", 1);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char *file = mmap(NULL, COUNTERS_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    size_t cleared = 0;
    for (size_t at = 256; at < COUNTERS_FILE_SIZE; at += 256)
        if (strcmp(file + at + 16, "killed") == 0) {
            memset(file + at + 8, 0, 8 + COUNTERS_LABELS_SIZE);
            cleared++;
        }
    check(cleared == 1, "%zu slots", cleared);
    check(strcmp(find(COUNTERS_CRASHES, "killed").labels, "none") == 0, "it is not read");
    counters_add(COUNTERS_CRASHES, "killed", 1);
    check(count_of(COUNTERS_CRASHES, "killed") == 2, "it is completed and keeps its count");
}

/* The file is truncated while it is mapped: counting and reading stop, and the process goes on. */
static void check_truncated(void) {
    struct counters_series row;
    size_t at = 0;
    open_table();
    counters_add(COUNTERS_CRASHES, "before", 1);
    check(truncate(path, 0) == 0, "truncate");
    counters_add(COUNTERS_CRASHES, "after", 1);
    check(!counters_are_kept(), "counting is off after a lost page");
    counters_add(COUNTERS_CRASHES, "after", 1);
    counters_observe(COUNTERS_REQUEST_TIME, "after", 1);
    check(!counters_next(&at, &row) && counters_dropped() == 0, "there is nothing to read");
}

static void check_truncated_reading(void) {
    struct counters_series row;
    size_t at = 0;
    open_table();
    check(truncate(path, 0) == 0, "truncate");
    check(!counters_next(&at, &row), "reading ends at a lost page");
    check(!counters_are_kept(), "and counting is off");
}

#ifdef __SANITIZE_ADDRESS__
/* AddressSanitizer would report that SIGBUS and exit. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "handle_sigbus=0";
}
#endif

/* Any other SIGBUS ends the process as before. */
static void raise_other(void) {
    open_table();
    counters_add(COUNTERS_CRASHES, "before", 1);
    int fd = open(replaced, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    volatile char *lost = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *lost = 1;
}

static void check_off(void) {
    char problem[MAPPED_FILE_PROBLEM_SIZE] = "x";
    struct counters_series row;
    size_t at = 0;
    counters_open("", problem);
    counters_add(COUNTERS_CRASHES, "off", 1);
    check(!*problem && !counters_are_kept() && !counters_next(&at, &row), "an empty path is off");
}

/* The file of each case is replaced once, by one of several processes, and kept beside the new one.
 */
static void open_damaged(void) {
    char problem[MAPPED_FILE_PROBLEM_SIZE];
    wait_for_all();
    counters_open(path, problem);
    check(counters_are_kept(), "the file is replaced: %s", problem);
    counters_add(COUNTERS_CRASHES, "counted", 1);
    _exit(check_failures() ? 1 : strstr(problem, "renamed") ? 2 : 0);
}

static void check_counted(void) {
    open_table();
    check(count_of(COUNTERS_CRASHES, "counted") == PROCESSES,
          "every process counts in the new file");
}

static void check_replacement(void) {
    int status, renamed = 0;
    check(truncate(path, 4711) == 0, "truncate");
    unlink(replaced);
    fflush(stdout);
    *started = 0;
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            open_damaged();
    while (wait(&status) > 0) {
        check(WIFEXITED(status) && WEXITSTATUS(status) != 1, "status %d", status);
        renamed += WEXITSTATUS(status) == 2;
    }
    struct stat file;
    check(renamed == 1, "%d processes reported the replacement", renamed);
    check(stat(replaced, &file) == 0 && file.st_size == 4711, "the damaged file is kept");
    check(in_child(check_counted) == 0, "the new file");
}

int main(void) {
    static void (*const alone[])(void) = {
        check_bounds, check_full, check_killed_claim, check_truncated, check_truncated_reading,
        check_off};
    check(mkdtemp(directory) != NULL, "mkdtemp");
    started =
        mmap(NULL, sizeof *started, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(path, sizeof path, "%s/metrics", directory);
    snprintf(replaced, sizeof replaced, "%s.replaced", path);
    check_concurrency();
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        unlink(path);
        check(in_child(alone[i]) == 0, "case %zu", i);
    }
    unlink(path);
    int status = in_child(raise_other);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, "another SIGBUS ends the process");
    for (int i = 0; i < REPLACEMENTS; i++)
        check_replacement();
    unlink(path);
    unlink(replaced);
    check(rmdir(directory) == 0, "no other file is left");
    return check_failures();
}
