/* Runs the processes of a pool: starts, replaces and ends them until a signal ends the pool. */
#ifndef SWITCHBOARD_SUPERVISOR_H
#define SWITCHBOARD_SUPERVISOR_H

#include <stddef.h>
#include <sys/stat.h>

#include "connections.h"
#include "worker.h"

enum { WORKERS_MAX = 1024, WATCHED_MAX = 2 };

/* How many processes a pool runs. It runs more while connections wait although processors are free:
 * then its processes wait for the platform or the disk. */
struct sizing {
    long least, most;   /* the bounds of `size` */
    int64_t calm_ms;    /* the time without waiting connections after which `size` is lowered */
    long size;          /* the number of processes */
    long short_samples; /* in a row in which a connection waited and a processor was free */
    int64_t calm_since; /* when a connection waited last */
};

/* A file whose change replaces the processes of a pool: their program or their configuration. */
struct watched {
    const char *path; /* owned by the caller */
    int access;       /* what the file must permit, as access(2) takes it */
    struct stat used; /* the file that the processes use */
    struct stat seen; /* the file at the last check */
};

struct supervisor {
    char **program; /* path and arguments, as execv(3) takes them */
    struct program_sockets sockets;
    struct connections *connections;
    int64_t grace_ms; /* between SIGTERM and SIGKILL to a process */
    bool forks;       /* the processes are forked by `parent` */
    bool rests;       /* processes end while they are idle, and start while requests wait */
    struct parent parent;
    int64_t next_wake; /* the earliest start of the next process because a connection waits */
    struct watched watched[WATCHED_MAX];
    size_t watched_count;
    struct worker workers[WORKERS_MAX]; /* the first sizing.size run, up to sizing.most may end */
    struct sizing sizing;
    long processors; /* of the machine */
    int signals;     /* their descriptor */
    bool is_asleep;  /* no process runs, and the next connection starts one */
    bool is_stopping;
};

/* Has the processes replaced when the file at `path` has changed and permits `access`, as access(2)
 * takes it. At most WATCHED_MAX files. Returns 0, or -1 with errno when it cannot be found. */
int supervisor_watch(struct supervisor *supervisor, const char *path, int access);

/* Blocks the signals that supervisor_run reads: SIGTERM and SIGINT end the pool, SIGHUP replaces
 * the processes. Returns 0, or -1 with errno. */
int supervisor_block_signals(struct supervisor *supervisor);

/* Runs the processes. Returns when the pool was ended by a signal and no process is left. The
 * caller has set program, sockets, connections, grace_ms, forks, rests and the limits of sizing. */
void supervisor_run(struct supervisor *supervisor);

#endif
