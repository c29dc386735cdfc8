/* Internal to the store: counting usage within the open transaction. The counts are collected in
 * memory and written last, line by line in the order of their ids: so a payload with many updates
 * writes few rows, and transactions take the rows in the same order. */
#ifndef SWITCHBOARD_STORE_USAGE_TALLY_H
#define SWITCHBOARD_STORE_USAGE_TALLY_H

#include "engine/sql.h"
#include "store/usage.h"

enum { USAGE_TALLY_LINES = 64 };

struct usage_line {
    char user_id[ID_SIZE], line_id[ID_SIZE];
    int64_t counts[USAGE_MEASURES];
};

struct usage_tally {
    int64_t now; /* ms; its hour is counted in */
    size_t count;
    struct usage_line lines[USAGE_TALLY_LINES];
};

/* Begins to collect; a tally of zeros and the time has begun too. */
static inline void usage_start(struct usage_tally *tally, int64_t now) {
    tally->now = now;
    tally->count = 0; /* a line is zeroed when it is used */
}

/* Returns the counts of the line, to raise; valid until the next call. Writes the others first when
 * there is no room for one more. NULL when that failed. */
struct usage_line *usage_of_line(struct store *store, struct usage_tally *tally,
                                 const char *user_id, const char *line_id);

/* Adds the collected counts to the table. */
bool usage_write(struct store *store, struct usage_tally *tally);

#endif
