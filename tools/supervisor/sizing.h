/* How many processes a pool runs. It runs more while connections wait although processors are free:
 * then its processes wait for the platform or the disk. */
#ifndef SWITCHBOARD_SIZING_H
#define SWITCHBOARD_SIZING_H

#include <stdbool.h>
#include <stdint.h>

struct sizing {
    long least, most;   /* the bounds of `size` */
    int64_t calm_ms;    /* the time without waiting connections after which `size` is lowered */
    long size;          /* the number of processes */
    long short_samples; /* in a row in which a connection waited and a processor was free */
    int64_t calm_since; /* when a connection waited last */
};

/* Adjusts the size to one sample: whether a connection waits, and whether it could be served at
 * once if there were more processes. `now` is from clock_monotonic(). Returns the milliseconds
 * until the next sample. */
int64_t sizing_sample(struct sizing *sizing, bool is_waiting, bool is_short, int64_t now);

#endif
