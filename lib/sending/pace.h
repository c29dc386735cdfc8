/* How fast each line sends: a bucket of tokens on the monotonic clock, in the memory of the only
 * sender that takes rows. */
#ifndef SWITCHBOARD_SENDING_PACE_H
#define SWITCHBOARD_SENDING_PACE_H

#include "delivery/table.h"

enum {
    PACE_RATE = 40,            /* rows per second of a line: half of the platform's limit */
    PACE_RATE_COEXISTING = 10, /* of one that the business app uses too */
    PACE_LINES = 512,          /* lines that are remembered; others begin at the full rate */
};

struct pace_line {
    struct table_entry entry; /* its name is the line's id, its load the rows in flight */
    double rate;              /* rows per second now */
    double tokens;
    int64_t filled_at, blocked_until, slowed_at; /* clock_monotonic */
    int64_t waited;                              /* by the sender, when it was filled */
    int64_t rests_until, rest;                   /* its due rows wait for others; rest: ms */
};

struct pace {
    struct pace_line lines[PACE_LINES];
    uint32_t hashes[PACE_LINES];
    struct table table;
    int64_t waited; /* ms in which the sender had nothing to do */
};

void pace_init(struct pace *pace);

/* The rows per second that are set for a line: `own`; 0: the default. */
double pace_rate(int64_t own, bool is_coexisting);

/* Returns the line, whose set rate is `rate`. The pointer is valid while it has a load, or until
 * the next call. */
struct pace_line *pace_find(struct pace *pace, const char *line_id, double rate, int64_t now);

/* The sender had nothing to do for so long. Its work does not cost a line its tokens: exchanges
 * with a slow database may take longer than the bucket holds. */
void pace_wait(struct pace *pace, int64_t ms);

/* How many rows the line may send now. A lower set rate counts at once, a higher one as after a
 * refusal: by small steps. */
size_t pace_room(const struct pace *pace, struct pace_line *line, double rate, int64_t now);

/* When a line that may send nothing may send again, not before 25 ms have passed. */
int64_t pace_room_at(const struct pace_line *line, int64_t now);

/* Counts rows that the line sends. */
void pace_use(struct pace_line *line, size_t rows);

/* The due rows of the line wait for others of their recipients: it sends nothing for 25 ms, the
 * next time for twice as long, and so on up to 250 ms. */
void pace_rest(struct pace_line *line, int64_t now);

/* A row of the line has ended: the next one of its recipient may follow at once. */
void pace_end(struct pace_line *line);

/* The platform refused a row because the line is too fast: it goes on at three quarters of its
 * rate, which then rises again. Counted once a second. */
void pace_slow(struct pace_line *line, int64_t now);

/* The line sends nothing for so long. */
void pace_pause(struct pace_line *line, int64_t now, int64_t ms);

#endif
