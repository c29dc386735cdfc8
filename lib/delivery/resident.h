/* What the resident programs, the courier and the sender, have in common. */
#ifndef SWITCHBOARD_DELIVERY_RESIDENT_H
#define SWITCHBOARD_DELIVERY_RESIDENT_H

#include "base/process/program.h"
#include "delivery/resources.h"
#include "store/heartbeat.h"

/* The file with the id of the process; path NULL: none. */
struct pid_file {
    const char *path;
    int fd;
};

struct resident {
    const struct program *program;
    struct pid_file pid_file;
    /* what the program opens before it is confined, after its log; NULL: nothing */
    void (*prepare)(const struct config *config);
    const char *duration; /* --for; NULL: none */
    int64_t lasts;        /* ms after which it stops by itself; 0: it does not */
    struct resources resources;
    int signals; /* signalfd */
    bool is_stopping;
    bool was_signalled; /* it is stopping, and no next program of cron begins */
    int64_t started;    /* monotonic */
    int64_t stop_at;    /* the same; what is in flight is abandoned then; 0: it is not stopping */
};

/* clang-format off */
/* The options that all have; `offset` is that of the struct resident in the program's values. */
#define RESIDENT_OPTIONS(offset)                                                                   \
    {.name = "config", .value = "FILE",                                                            \
     .member = (offset) + offsetof(struct resident, resources.config_path),                        \
     .meaning = "the configuration file"},                                                         \
    {.name = "pid-file", .value = "FILE",                                                          \
     .member = (offset) + offsetof(struct resident, pid_file.path),                                \
     .meaning = "write the process id there; removed at the end"}
#define RESIDENT_FOR(offset, name_)                                                                \
    {.name = "for", .value = "TIME", .member = (offset) + offsetof(struct resident, duration),     \
     .meaning = "end after TIME, such as 60s, as by SIGTERM. By cron, once a minute:\n"            \
                "the next " name_ " begins when this one ends"}
/* clang-format on */

/* Prints an error of the program. Returns 1. */
int resident_fail(const struct resident *resident, const char *what, const char *detail);

/* Reads the options into `values`, of which `resident` is a part with its program set. Returns -1
 * to go on, else the exit status, after printing the error. */
int resident_read_options(struct resident *resident, int argc, char **argv, void *values);

/* Begins: reads the configuration, makes the pid file, opens the log, confines the process to
 * `needs`, and takes its signals. To be called before all but the options. Returns 0, or -1 after
 * printing the error. */
int resident_begin(struct resident *resident, unsigned needs);

/* The program is ready for signals: writes the pid file, and logs its begin. `id` names it in the
 * log. Returns 0, or -1 after printing the error. */
int resident_is_ready(const struct resident *resident, const char *id);

/* Reads the signals that have come. SIGHUP reads the configuration again. Others stop it: what is
 * in flight has 14 s to end, and the second one abandons it. */
void resident_take_signals(struct resident *resident);

/* Stops it in the same way when its time of --for is over. */
void resident_stop_in_time(struct resident *resident, int64_t now);

/* Its heartbeat, without keys. */
struct store_heartbeat resident_heartbeat(const struct resident *resident);

/* Closes everything, and removes the pid file. */
void resident_end(struct resident *resident);

#endif
