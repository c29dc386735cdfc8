#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "random.h"

enum { STEP_US = 400, YIELD_US = 3000, STUCK_S = 60 };

struct shared *world_shared;
int world_self = -1;

static void fatal(const char *what) {
    perror(what);
    abort();
}

void process_prepare(void) {
    world_shared = mmap(NULL, sizeof *world_shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (world_shared == MAP_FAILED)
        fatal("world: memory");
}

/* --- turns --- */

static void give(atomic_int *turn) {
    atomic_store(turn, 1);
    syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Returns false when the time is over. */
static bool await(atomic_int *turn, const struct timespec *limit) {
    while (!atomic_load(turn))
        if (syscall(SYS_futex, turn, FUTEX_WAIT, 0, limit, NULL, 0) != 0 && errno == ETIMEDOUT)
            return false;
    atomic_store(turn, 0);
    return true;
}

static struct process *self(void) {
    return &world_shared->processes[world_self];
}

void process_wait(int64_t until, bool awaits_call, bool awaits_signal) {
    struct process *process = self();
    process->until = until;
    process->awaits_call = awaits_call;
    process->awaits_signal = awaits_signal;
    process->state = PROCESS_WAITS;
    give(&world_shared->master);
    await(&process->turn, NULL);
}

uint64_t process_random(void) {
    return random_next(&self()->random);
}

/* The simulator waits for the end of the process then. */
static void leave(void) {
    self()->state = PROCESS_ENDED;
    give(&world_shared->master);
}

void process_step(void) {
    struct process *process = self();
    world_shared->now += random_below(&process->random, STEP_US);
    if (world_shared->disk_fills_in && --world_shared->disk_fills_in == 0)
        world_shared->is_disk_full = true;
    if (world_shared->power_fails_in && --world_shared->power_fails_in == 0) {
        world_shared->has_power_failed = true;
        process_wait(INT64_MAX, false, false);
    }
    if (++process->steps == process->dies_at) {
        leave();
        raise(SIGKILL);
    }
    if (random_below(&process->random, 256) < process->yields)
        process_wait(world_shared->now + random_below(&process->random, YIELD_US), false, false);
}

/* --- the life of a process --- */

static void redirect(const char *path, int flags, int descriptor) {
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0)
        fatal(path);
    close(file);
}

static _Noreturn void run_program(const struct program_start *start) {
    extern char **environ;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    redirect(start->input ? start->input : "/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(start->output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(start->errors, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
    environ = (char **)start->environment;
    atexit(leave);
    optind = 0; /* the simulator has read its own options */
    await(&self()->turn, NULL);
    exit(start->main(start->argc, start->argv));
}

int process_start(const struct program_start *start) {
    int index = 0;
    while (index < PROCESSES && world_shared->processes[index].state != PROCESS_FREE)
        index++;
    if (index == PROCESSES)
        return -1;
    struct process *process = &world_shared->processes[index];
    *process = (struct process){.state = PROCESS_WAITS,
                                .until = world_shared->now,
                                .random = start->random,
                                .dies_at = start->dies_at,
                                .yields = start->yields};
    fflush(NULL);
    world_shared->programs_started++;
    const pid_t pid = fork();
    if (pid < 0)
        fatal("fork");
    if (!pid) {
        world_self = index;
        run_program(start);
    }
    process->pid = pid; /* only here: the memory is the child's too */
    return index;
}

/* The calls on their way arrive; their answers are lost. */
static void drop_calls(int index) {
    for (struct call *call = world_shared->calls;
         call < world_shared->calls + world_shared->calls_used; call++)
        if (call->state != CALL_FREE && call->owner == index) {
            call->owner = -1;
            if (call->state != CALL_ON_ITS_WAY)
                call->state = CALL_FREE;
        }
}

static void end(int index) {
    drop_calls(index);
    world_shared->processes[index].state = PROCESS_FREE;
}

static _Noreturn void stuck(int index) {
    fprintf(stderr, "world: process %d (pid %d) does not give its turn back\n", index,
            (int)world_shared->processes[index].pid);
    abort();
}

/* A process that crashes does not give its turn back, so the simulator looks for its end. One that
 * ends by itself may have given it back just before the look finds its end. */
bool process_run(int index, int *status) {
    static const struct timespec look = {.tv_nsec = 20000000};
    struct process *process = &world_shared->processes[index];
    process->state = PROCESS_RUNS;
    give(&process->turn);
    for (int looks = 0; !await(&world_shared->master, &look); looks++) {
        if (waitpid(process->pid, status, WNOHANG) == process->pid) {
            atomic_store(&world_shared->master, 0);
            end(index);
            return false;
        }
        if (looks > STUCK_S * 50)
            stuck(index);
    }
    if (process->state != PROCESS_ENDED)
        return true;
    waitpid(process->pid, status, 0);
    end(index);
    return false;
}

void process_kill(int index) {
    struct process *process = &world_shared->processes[index];
    kill(process->pid, SIGKILL);
    waitpid(process->pid, NULL, 0);
    end(index);
}
