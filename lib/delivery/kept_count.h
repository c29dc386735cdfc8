/* The names of the files of `pending_dir` (kept_record.h), and their number: for the programs that
 * only count them. */
#ifndef SWITCHBOARD_DELIVERY_KEPT_COUNT_H
#define SWITCHBOARD_DELIVERY_KEPT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#define KEPT_PREFIX  "rec_"     /* an id follows, so that the names sort by time */
#define KEPT_NEW     ".new"     /* at the end: it is being written */
#define KEPT_REFUSED ".refused" /* at the end: it cannot be stored */

struct kept_tally {
    uint64_t waiting, refused; /* files */
    int64_t since;             /* ms since 1970, of the oldest that waits; 0: none waits */
};

/* Whether it is the name of a record that waits. */
bool kept_is_waiting(const char *name);

/* Whether it is such a name with this end. */
bool kept_is_name(const char *name, const char *end);

/* Counts the files. Returns 0, or -1 with errno when the directory cannot be read. */
int kept_count(const char *directory, struct kept_tally *tally);

#endif
