#include "supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_identity.h"
#include "base/process/signals.h"

enum {
    TICK_MS = 1000,       /* between the checks of the watched files */
    WAKE_MS = 10,         /* between two starts because connections wait */
    WAKE_SAMPLE_MS = 100, /* between two looks for waiting connections */
};

/* --- the files that are watched --- */

/* Begins to watch the file at `path`, which must live as long as `file`. Returns 0, or -1 with
 * errno when it cannot be found. */
static int watched_open(struct watched *file, const char *path, int access) {
    file->path = path;
    file->access = access;
    if (stat(path, &file->used) != 0)
        return -1;
    file->seen = file->used;
    return 0;
}

/* Whether the file is another one, or has another content, than at the last call that returned true
 * (at first: than at watched_open). True only when two calls in a row find the same file: until
 * then it may still be being written. */
static bool watched_changed(struct watched *file) {
    struct stat found;
    if (stat(file->path, &found) != 0)
        return false;
    bool has_changed = !file_is_unchanged(&file->used, &found) &&
                       file_is_unchanged(&file->seen, &found) &&
                       access(file->path, file->access) == 0;
    file->seen = found;
    if (has_changed)
        file->used = found;
    return has_changed;
}

int supervisor_watch(struct supervisor *supervisor, const char *path, int access) {
    return watched_open(&supervisor->watched[supervisor->watched_count++], path, access);
}

int supervisor_block_signals(struct supervisor *supervisor) {
    static const int read_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0};
    supervisor->signals = signals_open(read_signals);
    return supervisor->signals < 0 ? -1 : 0;
}

/* --- the processes --- */

static struct worker *find_worker(struct supervisor *supervisor, pid_t pid) {
    for (long i = 0; i < supervisor->sizing.most; i++)
        if (supervisor->workers[i].pid == pid)
            return &supervisor->workers[i];
    return NULL;
}

static void reap(struct supervisor *supervisor, int64_t now) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        struct worker *worker = find_worker(supervisor, pid);
        if (!worker)
            continue; /* a parent */
        bool is_done = worker_record_end(worker, supervisor->program[0], status, now);
        worker->is_resting = supervisor->rests && is_done;
    }
}

static void mark_outdated(struct supervisor *supervisor) {
    parent_end(&supervisor->parent);
    for (long i = 0; i < supervisor->sizing.most; i++)
        supervisor->workers[i].is_outdated = supervisor->workers[i].pid != 0;
}

/* Ends the first outdated process. They are replaced one at a time: the next one is ended when the
 * successor of the last one has started. */
static void replace_outdated(struct supervisor *supervisor, int64_t now) {
    for (long i = 0; i < supervisor->sizing.size; i++) {
        struct worker *worker = &supervisor->workers[i];
        if (worker->is_outdated)
            worker_end(worker, supervisor->grace_ms, now);
        if (worker->is_outdated || (!worker->pid && !worker->is_resting))
            return;
    }
}

static void check_files(struct supervisor *supervisor) {
    for (size_t i = 0; i < supervisor->watched_count; i++)
        if (watched_changed(&supervisor->watched[i]))
            mark_outdated(supervisor);
}

/* --- their number --- */

enum {
    SAMPLE_MS = 100,        /* the time between samples */
    WAITING_SAMPLE_MS = 10, /* the same after one in which a connection waited */
    SHORT_SAMPLES = 5,      /* in a row before the pool grows, so that it ignores a burst */
    SHRINK_MS = 1000,       /* the time between two processes that end because it is calm */
};

static bool has_free_processor(const struct supervisor *supervisor) {
    long runnable = 0;
    for (long i = 0; i < supervisor->sizing.size && runnable < supervisor->processors; i++)
        runnable += worker_is_runnable(&supervisor->workers[i]);
    return runnable < supervisor->processors;
}

/* Half as many processes again, and one more. */
static void grow(struct sizing *sizing) {
    sizing->size += sizing->size / 2 + 1;
    if (sizing->size > sizing->most)
        sizing->size = sizing->most;
    sizing->short_samples = 0;
}

/* Adjusts the size to one sample: whether a connection waits, and whether it could be served at
 * once if there were more processes. `now` is from clock_monotonic(). Returns the milliseconds
 * until the next sample. */
static int64_t sizing_sample(struct sizing *sizing, bool is_waiting, bool is_short, int64_t now) {
    if (is_waiting)
        sizing->calm_since = now;
    sizing->short_samples = is_short ? sizing->short_samples + 1 : 0;
    if (sizing->short_samples >= SHORT_SAMPLES && sizing->size < sizing->most) {
        grow(sizing);
    } else if (sizing->size > sizing->least && now - sizing->calm_since > sizing->calm_ms) {
        sizing->size--;
        sizing->calm_since += SHRINK_MS;
    }
    return is_waiting ? WAITING_SAMPLE_MS : SAMPLE_MS;
}

/* Returns the milliseconds until the next call. */
static int64_t adjust_size(struct supervisor *supervisor, int64_t now) {
    if (supervisor->sizing.least == supervisor->sizing.most)
        return TICK_MS;
    bool is_waiting = connections_have_waiting(supervisor->connections);
    bool is_short = is_waiting && has_free_processor(supervisor);
    return sizing_sample(&supervisor->sizing, is_waiting, is_short, now);
}

/* Whether a process rests, and whether one runs. */
static bool has_resting(const struct supervisor *supervisor, bool *is_running) {
    bool is_resting = false;
    *is_running = false;
    for (long i = 0; i < supervisor->sizing.most; i++) {
        is_resting =
            is_resting || (i < supervisor->sizing.size && supervisor->workers[i].is_resting);
        *is_running = *is_running || supervisor->workers[i].pid;
    }
    return is_resting;
}

/* Lets one resting process start if a connection waits. While a process runs it does so only at
 * some times, because that process accepts most connections at once. Without a process ends the
 * parent too. Returns the milliseconds until the next call. */
static int64_t wake(struct supervisor *supervisor, int64_t now) {
    bool is_running, is_resting = has_resting(supervisor, &is_running);
    supervisor->is_asleep = is_resting && !is_running;
    if (!is_running)
        parent_end(&supervisor->parent);
    if (!is_resting || now < supervisor->next_wake)
        return is_resting ? supervisor->next_wake - now : TICK_MS;
    bool is_waiting = connections_have_waiting(supervisor->connections);
    supervisor->next_wake = now + (is_waiting ? WAKE_MS : is_running ? WAKE_SAMPLE_MS : 0);
    for (long i = 0; is_waiting && i < supervisor->sizing.size; i++)
        if (supervisor->workers[i].is_resting) {
            supervisor->workers[i].is_resting = false;
            break;
        }
    return is_waiting ? WAKE_MS : is_running ? WAKE_SAMPLE_MS : TICK_MS;
}

/* Starts the processes that are due, and ends those above the size. Returns the milliseconds until
 * the next call. */
static int64_t keep_running(struct supervisor *supervisor, int64_t now) {
    int64_t wait = adjust_size(supervisor, now), waking = wake(supervisor, now);
    wait = waking < wait ? waking : wait;
    long size = supervisor->sizing.size;
    for (long i = size; i < supervisor->sizing.most; i++)
        worker_end(&supervisor->workers[i], supervisor->grace_ms, now);
    for (long i = 0; i < size; i++) {
        struct worker *worker = &supervisor->workers[i];
        if (worker->is_resting)
            continue;
        if (!worker->pid && worker->start_at <= now)
            worker_start(worker, supervisor->program, &supervisor->sockets,
                         supervisor->forks ? &supervisor->parent : NULL, now);
        if (!worker->pid && worker->start_at - now < wait)
            wait = worker->start_at - now;
    }
    replace_outdated(supervisor, now);
    return wait;
}

/* Ends every process. Returns whether one is left. */
static bool end_all(struct supervisor *supervisor, int64_t now) {
    bool is_left = false;
    connections_hold(supervisor->connections);
    parent_end(&supervisor->parent);
    for (long i = 0; i < supervisor->sizing.most; i++) {
        worker_end(&supervisor->workers[i], supervisor->grace_ms, now);
        is_left = is_left || supervisor->workers[i].pid;
    }
    return is_left;
}

/* --- the main loop --- */

/* Waits for a signal, at most `wait_ms`, and for a connection if all processes rest. SIGCHLD only
 * ends the wait. */
static void take_signals(struct supervisor *supervisor, int64_t wait_ms) {
    struct pollfd awaited[] = {{.fd = supervisor->signals, .events = POLLIN},
                               {.fd = supervisor->sockets.connections, .events = POLLIN}};
    struct signalfd_siginfo caught;
    poll(awaited, supervisor->is_asleep && !supervisor->is_stopping ? 2 : 1, (int)wait_ms);
    while (read(supervisor->signals, &caught, sizeof caught) == sizeof caught) {
        if (caught.ssi_signo == SIGHUP)
            mark_outdated(supervisor);
        else if (caught.ssi_signo != SIGCHLD)
            supervisor->is_stopping = true;
    }
}

void supervisor_run(struct supervisor *supervisor) {
    int64_t now = clock_monotonic();
    int64_t next_check = now + TICK_MS;
    supervisor->sizing.size = supervisor->sizing.least;
    supervisor->sizing.calm_since = now;
    supervisor->processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < supervisor->sizing.most; i++)
        supervisor->workers[i].is_resting = supervisor->rests;
    for (;; now = clock_monotonic()) {
        int64_t wait = TICK_MS;
        reap(supervisor, now);
        if (now >= next_check) {
            check_files(supervisor);
            next_check = now + TICK_MS;
        }
        if (!supervisor->is_stopping)
            wait = keep_running(supervisor, now);
        else if (!end_all(supervisor, now))
            return;
        take_signals(supervisor, wait);
    }
}
