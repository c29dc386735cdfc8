/* Counters of all processes of an installation, for GET /metrics: a table in a memory-mapped file
 * (configuration key `metrics_file`). A process maps the file before it is confined; counting then
 * needs no system call and no lock. The counters survive restarts. A process that is killed between
 * two additions may lose one of them and damages nothing.
 *
 * A series is a family and the values of its labels. The callers choose the values from small sets:
 * templates of routes, statuses, outcomes; never text of a client. A series that does not fit into
 * the table is dropped, and counted as such.
 */
#ifndef SWITCHBOARD_COUNTERS_H
#define SWITCHBOARD_COUNTERS_H

#include "base/mapped_file.h"

/* The values stand in the file: append only. */
enum counters_family {
    COUNTERS_REQUESTS = 1,     /* method, route, status */
    COUNTERS_REQUEST_TIME,     /* histogram: method, route */
    COUNTERS_CRASHES,          /* program */
    COUNTERS_STARTS,           /* program, of processes that serve more than one request */
    COUNTERS_UPSTREAM_CALLS,   /* outcome */
    COUNTERS_UPSTREAM_TIME,    /* histogram */
    COUNTERS_INBOUND_UPDATES,  /* outcome */
    COUNTERS_INBOUND_REFUSALS, /* payloads that were stored unread */
    COUNTERS_ATTEMPTS,         /* outcome */
    COUNTERS_ATTEMPT_TIME,     /* histogram */
    COUNTERS_REPEATS,          /* of transactions and reads on a database server: reason */
    COUNTERS_RECORDS,          /* that the database did not take: outcome */
    COUNTERS_SENDS,            /* of the sender: outcome */
    COUNTERS_COPIES,           /* of attachments: outcome */
    COUNTERS_FAMILIES,         /* the number after the last one */
};

enum {
    COUNTERS_BOUNDS = 14,                  /* of a histogram */
    COUNTERS_SUM = COUNTERS_BOUNDS + 1,    /* the index of the sum, microseconds */
    COUNTERS_VALUES = COUNTERS_SUM + 1,    /* of a series; a counter has the first one only */
    COUNTERS_LABELS_SIZE = 112,            /* bytes of the values of all labels, with the NUL */
    COUNTERS_SLOTS = 1023,                 /* most series */
    COUNTERS_FILE_SIZE = (1 + 1023) * 256, /* bytes */
};

/* The upper bounds of the buckets, microseconds, ascending. The last bucket has no bound. */
extern const int64_t counters_bounds[COUNTERS_BOUNDS];

/* Maps the file `path`, and creates it when it is missing, with mode 0660. A file that is not a
 * table of this version is renamed to `path.replaced`. Without the file nothing is counted: an
 * empty `path` switches counting off, and every failure does. `problem` is set to a message for the
 * log, or to "". Call it once, before confine. */
void counters_open(const char *path, char problem[MAPPED_FILE_PROBLEM_SIZE]);

/* Whether counters are kept. It becomes false when the file is truncated while it is mapped. */
bool counters_are_kept(void);

/* Adds `n` to a counter. `labels`: the values of the family's labels, separated by spaces; "": it
 * has none. Async-signal-safe. */
void counters_add(enum counters_family family, const char *labels, uint64_t n);

/* Adds an observation to a histogram. */
void counters_observe(enum counters_family family, const char *labels, int64_t microseconds);

/* A series as it was read. */
struct counters_series {
    enum counters_family family;
    char labels[COUNTERS_LABELS_SIZE];
    uint64_t values[COUNTERS_VALUES]; /* of a histogram: each bucket by itself, then the sum */
};

/* Reads the next series; `*at` is 0 at first. False at the end. The content of the file is not
 * trusted: a series has a valid family, and its labels are printable ASCII. */
bool counters_next(size_t *at, struct counters_series *series);

/* The number of additions that were dropped because the table was full. */
uint64_t counters_dropped(void);

#endif
