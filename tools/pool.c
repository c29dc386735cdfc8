/* pool: a pre-forking supervisor for FastCGI programs.
 *
 *     pool --socket PATH --processes N [--max-processes N] [--calm SECONDS] [--max-requests M]
 *          [--grace SECONDS] [--pid-file F] [--watch FILE] -- PROGRAM [ARGUMENT...]
 *
 * Creates the listening unix socket PATH and runs N processes of PROGRAM with the socket as their
 * standard input, on which a FastCGI program accepts its connections (FastCGI 1.0, 2.2). The socket
 * stays open while processes are started and ended, so that no connection is refused. If systemd
 * passes a socket (sd_listen_fds(3)), the pool uses it and needs no --socket.
 *
 *   a process ends     another is started; after one that ended at once, with a growing delay
 *   connections wait   if the processes sleep (they wait for the platform or the disk), more are
 *                      started, up to --max-processes; when no connection has waited for --calm
 *                      seconds (30), they are ended one by one
 *   SIGTERM, SIGINT    each process gets SIGTERM, and SIGKILL after --grace seconds; exit status 0
 *   SIGHUP             the processes are replaced one by one
 *   PROGRAM changes    the same, and when FILE of --watch changes, such as their configuration
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file_identity.h"

enum {
    PROCESSES_MAX = 1024,
    BACKLOG = 1024,
    GRACE_S = 40,           /* a send may wait 5 s to connect to the platform, 30 s for an answer */
    TICK_MS = 1000,         /* interval of the checks of PROGRAM's file */
    AT_ONCE_MS = 100,       /* a process that ends within this time is restarted with a delay */
    FAILED_EARLY_MS = 1000, /* the same for a process that fails */
    LOOK_MS = 100,      /* interval of the looks for waiting connections, if the pool may grow */
    LOOK_AGAIN_MS = 10, /* the interval after a look that found one */
    LOOKS = 5,          /* looks in a row before the pool grows, so that it ignores a burst */
    CALM_S = 30,        /* without waiting connections; then one process ends each TICK_MS */
    BACKOFF_FIRST_MS = 100,
    BACKOFF_LAST_MS = 5000,
    SYSTEMD_FD = 3,
};

struct options {
    const char *socket;
    const char *pid_file;
    long processes;
    long max_processes;
    long calm_s;
    long max_requests; /* 0: the program's own default */
    long grace_s;
    const char *watch; /* another file whose change replaces the processes; NULL: none */
    char **program;    /* NULL-terminated, as execv takes it */
};

/* A slot for one process. Times are monotonic milliseconds. */
struct slot {
    pid_t pid; /* 0: no process runs */
    long long started;
    long long start_at; /* the earliest start of the next process */
    long long kill_at;  /* SIGKILL is sent from this time on; 0: SIGTERM was not sent */
    long backoff_ms;    /* the last delay; 0 after a process that did not end early */
    bool outdated;      /* the process is to be replaced */
};

/* A file whose change replaces the processes. */
struct watched {
    const char *path;
    struct stat used; /* when the processes were started */
    struct stat seen; /* at the last check */
};

struct pool {
    struct options options;
    int listener;
    bool owns_socket;
    struct stat socket_id;
    struct watched program, watch;
    struct slot slots[PROCESSES_MAX];
    long size;            /* slots in use: from options.processes to options.max_processes */
    long processors;      /* of the machine */
    long looks;           /* in a row that found a connection waiting and a processor free */
    long long calm_since; /* time of the last look that found a connection waiting */
    bool stopping;
};

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void die(const char *what, const char *name) {
    fprintf(stderr, "pool: %s %s: %s\n", what, name, strerror(errno));
    exit(1);
}

static void usage(void) {
    fputs("usage: pool --socket PATH --processes N [--max-processes N] [--calm SECONDS]\n"
          "            [--max-requests M] [--grace SECONDS] [--pid-file F]\n"
          "            [--watch FILE] -- PROGRAM [ARGUMENT...]\n",
          stderr);
    exit(2);
}

static long read_number(const char *text, long least, long most) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < least || number > most) {
        fprintf(stderr, "pool: %s is not a number from %ld to %ld\n", text, least, most);
        exit(2);
    }
    return number;
}

static struct options read_options(int argc, char **argv) {
    static const struct option table[] = {
        {"socket", required_argument, NULL, 's'},
        {"processes", required_argument, NULL, 'n'},
        {"max-processes", required_argument, NULL, 'x'},
        {"calm", required_argument, NULL, 'c'},
        {"max-requests", required_argument, NULL, 'm'},
        {"grace", required_argument, NULL, 'g'},
        {"pid-file", required_argument, NULL, 'p'},
        {"watch", required_argument, NULL, 'w'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.grace_s = GRACE_S, .calm_s = CALM_S};
    int name;
    while ((name = getopt_long(argc, argv, "+", table, NULL)) != -1) {
        switch (name) {
        case 's': options.socket = optarg; break;
        case 'n': options.processes = read_number(optarg, 1, PROCESSES_MAX); break;
        case 'x': options.max_processes = read_number(optarg, 1, PROCESSES_MAX); break;
        case 'c': options.calm_s = read_number(optarg, 0, 86400); break;
        case 'm': options.max_requests = read_number(optarg, 1, LONG_MAX); break;
        case 'g': options.grace_s = read_number(optarg, 0, 3600); break;
        case 'p': options.pid_file = optarg; break;
        case 'w': options.watch = optarg; break;
        default: usage();
        }
    }
    options.program = argv + optind;
    if (options.processes == 0 || *options.program == NULL)
        usage();
    if (options.max_processes < options.processes)
        options.max_processes = options.processes;
    return options;
}

/* ---- the socket ---- */

/* Returns the socket that systemd has passed, or -1. */
static int take_systemd_socket(void) {
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    if (pid == NULL || count == NULL || strtol(pid, NULL, 10) != getpid() ||
        strcmp(count, "1") != 0)
        return -1;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return SYSTEMD_FD;
}

static bool is_listening(const struct sockaddr_un *address) {
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0)
        die("cannot make", "a socket");
    bool answered = connect(probe, (const struct sockaddr *)address, sizeof *address) == 0;
    close(probe);
    return answered;
}

static int make_socket(struct pool *pool, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        die("cannot listen on", path);
    }
    memcpy(address.sun_path, path, strlen(path));
    if (is_listening(&address)) {
        errno = EADDRINUSE;
        die("cannot listen on", path);
    }
    unlink(path); /* the socket of a killed pool */
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t mask = umask(0117);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, BACKLOG) != 0 || stat(path, &pool->socket_id) != 0)
        die("cannot listen on", path);
    umask(mask);
    pool->owns_socket = true;
    return listener;
}

/* Removes the socket, unless another pool has replaced it meanwhile. */
static void remove_socket(const struct pool *pool) {
    const char *path = pool->options.socket;
    if (pool->owns_socket && file_is_at(&pool->socket_id, path))
        unlink(path);
}

/* ---- the processes ---- */

static void run_program(const struct pool *pool, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* the process ends when the pool is killed */
    if (getppid() != parent)
        _exit(0);
    if (dup2(pool->listener, STDIN_FILENO) < 0)
        _exit(126);
    execv(pool->options.program[0], pool->options.program);
    fprintf(stderr, "pool: cannot run %s: %s\n", pool->options.program[0], strerror(errno));
    _exit(127);
}

static void delay_start(struct slot *slot, long long now) {
    slot->backoff_ms = slot->backoff_ms == 0 ? BACKOFF_FIRST_MS : slot->backoff_ms * 2;
    if (slot->backoff_ms > BACKOFF_LAST_MS)
        slot->backoff_ms = BACKOFF_LAST_MS;
    slot->start_at = now + slot->backoff_ms;
}

static void start_process(struct pool *pool, struct slot *slot, long long now) {
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        run_program(pool, parent);
    if (pid < 0) {
        delay_start(slot, now);
        return;
    }
    slot->pid = pid;
    slot->started = now;
    slot->kill_at = 0;
    slot->outdated = false;
}

/* Frees the slot of a process that has ended. */
static void free_slot(struct pool *pool, struct slot *slot, int status, long long now) {
    long long lived = now - slot->started;
    bool failed = status != 0 && slot->kill_at == 0;
    slot->pid = 0;
    slot->start_at = now;
    if (failed)
        fprintf(stderr, "pool: %s: process ended with %s %d\n", pool->options.program[0],
                WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (slot->kill_at == 0 && (lived < AT_ONCE_MS || (failed && lived < FAILED_EARLY_MS)))
        delay_start(slot, now);
    else
        slot->backoff_ms = 0;
}

static void reap_processes(struct pool *pool, long long now) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (long i = 0; i < pool->options.max_processes; i++)
            if (pool->slots[i].pid == pid)
                free_slot(pool, &pool->slots[i], status, now);
}

/* Sends SIGTERM, again at each call: a process that gets the signal between its check for signals
 * and accept(2) would miss the first one. Sends SIGKILL once the grace period is over. */
static void end_process(const struct pool *pool, struct slot *slot, long long now) {
    if (slot->pid == 0)
        return;
    if (slot->kill_at == 0)
        slot->kill_at = now + pool->options.grace_s * 1000;
    kill(slot->pid, now < slot->kill_at ? SIGTERM : SIGKILL);
}

/* Ends the first outdated process. They are replaced one at a time: the next one is ended when the
 * successor of the last one has started. */
static void replace_outdated(struct pool *pool, long long now) {
    for (long i = 0; i < pool->size; i++) {
        if (pool->slots[i].pid == 0)
            return;
        if (pool->slots[i].outdated) {
            end_process(pool, &pool->slots[i], now);
            return;
        }
    }
}

static void mark_outdated(struct pool *pool) {
    for (long i = 0; i < pool->options.max_processes; i++)
        pool->slots[i].outdated = pool->slots[i].pid != 0;
}

/* Marks the processes as outdated if the file has changed. A changed file counts when two checks in
 * a row find it the same: until then it may still be being written. */
static void check_file(struct pool *pool, struct watched *file, int access_needed) {
    struct stat found;
    if (file->path == NULL || stat(file->path, &found) != 0)
        return;
    if (!file_is_unchanged(&file->used, &found) && file_is_unchanged(&file->seen, &found) &&
        access(file->path, access_needed) == 0) {
        file->used = found;
        mark_outdated(pool);
    }
    file->seen = found;
}

static void start_watching(struct watched *file, const char *path) {
    file->path = path;
    if (path != NULL && stat(path, &file->used) != 0)
        die("cannot find", path);
    file->seen = file->used;
}

/* ---- the size ---- */

static bool connection_waits(const struct pool *pool) {
    struct pollfd listener = {.fd = pool->listener, .events = POLLIN};
    return poll(&listener, 1, 0) > 0;
}

/* True if the process runs or is ready to run (state R of proc(5)), and does not wait for another
 * program or for the disk. */
static bool is_runnable(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')'); /* the last one: the program's name may hold others */
    return state != NULL && strncmp(state, ") R", 3) == 0;
}

static bool processors_are_busy(const struct pool *pool) {
    long runnable = 0;
    for (long i = 0; i < pool->size && runnable < pool->processors; i++)
        runnable += pool->slots[i].pid == 0 || is_runnable(pool->slots[i].pid);
    return runnable >= pool->processors;
}

/* Raises the number of processes when connections keep waiting while processors are free, and
 * lowers it by one when no connection has waited for --calm seconds. Returns the milliseconds until
 * the next look. */
static long adjust_size(struct pool *pool, long long now) {
    long most = pool->options.max_processes;
    bool waits = connection_waits(pool);
    if (waits)
        pool->calm_since = now;
    pool->looks = waits && !processors_are_busy(pool) ? pool->looks + 1 : 0;
    if (pool->looks >= LOOKS && pool->size < most) {
        pool->size += pool->size / 2 + 1;
        pool->size = pool->size < most ? pool->size : most;
        pool->looks = 0;
    } else if (pool->size > pool->options.processes &&
               now - pool->calm_since > pool->options.calm_s * 1000) {
        pool->size--;
        pool->calm_since += TICK_MS;
    }
    return waits ? LOOK_AGAIN_MS : LOOK_MS;
}

/* ---- the loop ---- */

/* Starts the processes that are due. Returns the milliseconds until the next action. */
static long keep_running(struct pool *pool, long long now) {
    bool may_grow = pool->options.max_processes > pool->options.processes;
    long wait = may_grow ? adjust_size(pool, now) : TICK_MS;
    for (long i = pool->size; i < pool->options.max_processes; i++)
        end_process(pool, &pool->slots[i], now);
    for (long i = 0; i < pool->size; i++) {
        struct slot *slot = &pool->slots[i];
        if (slot->pid == 0 && slot->start_at <= now)
            start_process(pool, slot, now);
        if (slot->pid == 0 && slot->start_at - now < wait)
            wait = (long)(slot->start_at - now);
    }
    replace_outdated(pool, now);
    return wait;
}

/* Ends every process. Returns false when none is left. */
static bool end_processes(struct pool *pool, long long now) {
    bool left = false;
    for (long i = 0; i < pool->options.max_processes; i++) {
        end_process(pool, &pool->slots[i], now);
        left = left || pool->slots[i].pid != 0;
    }
    return left;
}

/* Waits for a signal, at most wait_ms, and handles it. */
static void await_signal(struct pool *pool, const sigset_t *signals, long wait_ms) {
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000};
    int caught = sigtimedwait(signals, NULL, &wait);
    if (caught == SIGTERM || caught == SIGINT)
        pool->stopping = true;
    else if (caught == SIGHUP)
        mark_outdated(pool);
}

static void supervise(struct pool *pool, const sigset_t *signals) {
    long long next_check = now_ms() + TICK_MS;
    for (;;) {
        long long now = now_ms();
        long wait = TICK_MS;
        reap_processes(pool, now);
        if (now >= next_check) {
            check_file(pool, &pool->program, X_OK);
            check_file(pool, &pool->watch, F_OK);
            next_check = now + TICK_MS;
        }
        if (!pool->stopping)
            wait = keep_running(pool, now);
        else if (!end_processes(pool, now))
            return;
        await_signal(pool, signals, wait);
    }
}

static void write_pid_file(const char *path) {
    FILE *file = path == NULL ? NULL : fopen(path, "we");
    if (path == NULL)
        return;
    if (file == NULL || fprintf(file, "%ld\n", (long)getpid()) < 0 || fclose(file) != 0)
        die("cannot write", path);
}

int main(int argc, char **argv) {
    static struct pool pool;
    sigset_t signals;
    pool.options = read_options(argc, argv);
    start_watching(&pool.program, pool.options.program[0]);
    start_watching(&pool.watch, pool.options.watch);
    pool.size = pool.options.processes;
    pool.processors = sysconf(_SC_NPROCESSORS_ONLN);
    pool.calm_since = now_ms();

    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);

    pool.listener = take_systemd_socket();
    if (pool.listener >= 0)
        fcntl(pool.listener, F_SETFD, FD_CLOEXEC);
    if (pool.listener < 0 && pool.options.socket == NULL)
        usage();
    if (pool.listener < 0)
        pool.listener = make_socket(&pool, pool.options.socket);
    if (pool.options.max_requests != 0) {
        char number[32];
        snprintf(number, sizeof number, "%ld", pool.options.max_requests);
        setenv("SWITCHBOARD_MAX_REQUESTS", number, 1);
    }
    write_pid_file(pool.options.pid_file);
    supervise(&pool, &signals);
    remove_socket(&pool);
    if (pool.options.pid_file != NULL)
        unlink(pool.options.pid_file);
    return 0;
}
