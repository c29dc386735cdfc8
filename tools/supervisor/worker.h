/* One process of a pool. Times are those of clock_monotonic(). */
#ifndef SWITCHBOARD_WORKER_H
#define SWITCHBOARD_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "parent.h"

/* The process, or what is needed to start the next one. All zero: it may start at once. */
struct worker {
    pid_t pid; /* 0: no process runs */
    int64_t started_at;
    int64_t start_at; /* the earliest start of the next process */
    int64_t kill_at;  /* SIGKILL is sent from this time on; 0: worker_end was not called */
    int64_t delay_ms; /* of the last restart; 0 after a process that did not end early */
    bool is_outdated; /* the process is to be replaced */
    bool is_resting;  /* no process runs, and none is to be started before a connection waits */
};

/* Starts a process of `program` with its sockets (program_start.h), by a fork of `parent`
 * unless that is NULL. It gets SIGTERM when the pool ends without ending it. When fork(2) fails, or
 * the parent does not start, delays the next start. */
void worker_start(struct worker *worker, char **program, const struct program_sockets *sockets,
                  struct parent *parent, int64_t now);

/* Asks the process to end: sends SIGTERM, and SIGKILL when `grace_ms` have passed since the first
 * call for this process. Call it again until the process has ended. Does nothing if none runs. */
void worker_end(struct worker *worker, int64_t grace_ms, int64_t now);

/* Records that the process has ended with `status`, as waitpid(2) returns it, and logs a failure
 * under the name `program`. A process that ended early without worker_end delays the next start,
 * longer each time. Returns whether it ended by itself and
 * without a failure. */
bool worker_record_end(struct worker *worker, const char *program, int status, int64_t now);

/* Whether the process runs on a processor or waits for one, or none has been started yet; false
 * while it waits for another program or for the disk. */
bool worker_is_runnable(const struct worker *worker);

#endif
