/* The processes of a simulated world: children of the simulator, of which exactly one runs at a
 * time. A child runs the `main` of a real program of the project. Time, random numbers, waits and
 * network of a child are those of the world (wrapped.c, network.c), so a seed decides all that
 * happens.
 *
 * A child takes a step at each of its calls that wraps the system. At a step it may give its turn
 * back, so that another child runs, and it may be killed with SIGKILL.
 */
#ifndef WORLD_PROCESS_H
#define WORLD_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PROCESSES = 48,
    CALLS = 768, /* HTTP calls of all processes at a time */
    CALL_URL = 1024,
    CALL_HEADERS = 4096,
    CALL_BODY = 128 * 1024,
    CALL_ANSWER = 16 * 1024,
};

enum call_state { CALL_FREE, CALL_ASKED, CALL_ON_ITS_WAY, CALL_ANSWERED };

/* An HTTP call of a process. */
struct call {
    enum call_state state;
    int owner;       /* index of the process; -1: it has ended or given up the call */
    uint64_t number; /* of all calls of the world: a later call in this place has another one */
    char method[8], url[CALL_URL], headers[CALL_HEADERS];
    size_t body_size;
    char body[CALL_BODY];
    /* set by the simulator */
    bool is_connected; /* the request arrived; else the connection failed */
    int code;          /* CURLcode */
    int status;
    char answer_headers[512]; /* lines, each ended by CR LF */
    size_t answer_size;
    char answer[CALL_ANSWER];
};

enum process_state { PROCESS_FREE, PROCESS_WAITS, PROCESS_RUNS, PROCESS_ENDED };

struct process {
    atomic_int turn; /* futex: 1 while the process may run */
    enum process_state state;
    pid_t pid;
    int64_t until;      /* us: it waits until then, or until a call of it is answered */
    bool awaits_call;   /* an answered call ends the wait */
    bool awaits_signal; /* a notification or a signal ends the wait: a courier that polls */
    uint64_t random;
    long steps, dies_at; /* dies_at 0: it is not killed */
    unsigned yields;     /* of 256 steps, so many give the turn back */
};

struct shared {
    atomic_int master; /* futex: 1 while the simulator may run */
    int64_t now;       /* us of the world's clock since it began */
    int64_t clock;     /* ms: the host's clock shows this when the world begins */
    bool is_disk_full;
    long disk_fills_in;  /* steps of all processes; 0: it does not become full */
    long power_fails_in; /* steps of all processes; 0: it does not fail */
    bool has_power_failed;
    uint64_t calls_made, programs_started;
    int calls_used; /* the places of calls that were in use */
    struct process processes[PROCESSES];
    struct call calls[CALLS];
};

extern struct shared *world_shared; /* NULL before process_prepare */
extern int world_self;              /* index of this process; -1: the simulator */

void process_prepare(void);

/* What a process is to do. */
struct program_start {
    int (*main)(int argc, char **argv);
    int argc;
    char **argv;              /* ends with NULL */
    char *const *environment; /* ends with NULL */
    const char *input;        /* file; NULL: empty */
    const char *output;       /* file, created */
    const char *errors;       /* file; what is written to standard error is added */
    uint64_t random;
    long dies_at;
    unsigned yields;
};

/* Starts a process. Returns its index, -1 when there is no place. */
int process_start(const struct program_start *start);

/* Runs the process until it gives its turn back or ends. Returns whether it goes on. */
bool process_run(int index, int *status);

/* Kills the process, which does not run. */
void process_kill(int index);

/* --- in a process --- */

/* Takes a step, before a call that can be seen by others. */
void process_step(void);

/* Gives the turn back until the time `until` (us), or an answer to a call of this process. */
void process_wait(int64_t until, bool awaits_call, bool awaits_signal);

/* The next random number of the process. */
uint64_t process_random(void);

#endif
