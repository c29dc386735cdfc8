/* When the sender looks for due rows because another process has written to the database. Times are
 * monotonic, in ms.
 *
 * A transaction writes to the log before its commit is seen, which waits for the disk: so the first
 * look after a write may come too early, and others follow after longer and longer pauses. There
 * may be many lines with nothing due: so a look is followed by a rest of 20 times its processor
 * time. A write during a rest is noticed when the rest ends.
 */
#ifndef SWITCHBOARD_LOOKS_H
#define SWITCHBOARD_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

/* All zeros: no look is due. */
struct looks {
    int64_t at;    /* the next one; 0: none */
    int64_t pause; /* before it */
    int64_t took;  /* microseconds of reading the lines, since all were read the last time */
    int64_t rests_until;
};

/* Another process has written. */
void looks_after_write(struct looks *looks, int64_t now);

/* The sender has written. What it made due is looked at anyway; but another process may have
 * written at the same time, so one look follows, later. */
void looks_after_own_write(struct looks *looks, int64_t now);

/* Whether a look is due; it counts as done. */
bool looks_take(struct looks *looks, int64_t now);

/* Adds `took` microseconds of processor time in which lines were read, without rows that were
 * taken. When all lines have been read, the rest begins. */
void looks_rest(struct looks *looks, int64_t now, int64_t took, bool has_read_all);

/* Whether a write of another process ends a wait that begins now: not during a rest, and not when a
 * look comes as soon anyway. */
bool looks_watch(const struct looks *looks, int64_t now);

/* The longest wait that begins now, until the next look or the end of the rest; INT64_MAX: none. */
int64_t looks_wait(const struct looks *looks, int64_t now);

#endif
