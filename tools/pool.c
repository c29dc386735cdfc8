/* pool: runs several processes of a FastCGI program behind one unix socket. See `pool --help`.
 *
 * The pool accepts the connections, and keeps them open while processes are started and ended, so
 * that no request is refused (supervisor/connections.h). The processes get the listening socket as
 * their standard input, which shows a FastCGI program that it is one (FastCGI 1.0, 2.2).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/program.h"
#include "supervisor/listener.h"
#include "supervisor/supervisor.h"
#include "web/next_connection.h"

struct options {
    const char *socket, *pid_file, *watch; /* NULL: none */
    long processes, max_processes;
    long calm_s, grace_s;
    long idle_s; /* 0: idle processes do not end */
    bool forks;
    long max_requests; /* 0: the program's own default */
    char **program;    /* NULL-terminated, as execv(3) takes it */
};

enum {
    GRACE_S = 65, /* apache.conf: Apache waits 60 s for an answer, so it has given up by then */
    CALM_S = 30,
};

/* clang-format off */
#define MEMBER(name) offsetof(struct options, name)

static const struct program_option rules[] = {
    {"socket",        "PATH",    MEMBER(socket),        0, 0, 0,
     "create the socket there; not needed if systemd passes one"},
    {"processes",     "N",       MEMBER(processes),     1, WORKERS_MAX, 0,
     "run N processes"},
    {"max-processes", "N",       MEMBER(max_processes), 1, WORKERS_MAX, 0,
     "run up to N processes while connections wait"},
    {"calm",          "SECONDS", MEMBER(calm_s),        0, 86400, CALM_S,
     "end them again after SECONDS without a waiting connection"},
    {"idle",          "SECONDS", MEMBER(idle_s),        1, 86400, 0,
     "end a process after SECONDS without a request; the first\none starts with the first connection"},
    {"fork",          NULL,      MEMBER(forks),         0, 0, 0,
     "start PROGRAM once; it forks the processes"},
    {"max-requests",  "M",       MEMBER(max_requests),  1, LONG_MAX, 0,
     "set SWITCHBOARD_MAX_REQUESTS: a process ends after M requests"},
    {"grace",         "SECONDS", MEMBER(grace_s),       0, 3600, GRACE_S,
     "send SIGKILL to a process SECONDS after SIGTERM"},
    {"pid-file",      "FILE",    MEMBER(pid_file),      0, 0, 0,
     "write the process id there; removed at the end"},
    {"watch",         "FILE",    MEMBER(watch),         0, 0, 0,
     "replace the processes when FILE changes, such as their\nconfiguration"},
    {0},
};

static const struct manual_item behaviour[] = {
    {"a process ends",   "Another is started. After one that ended early, the next start is\n"
                         "delayed, longer each time."},
    {"connections wait", "If processors are free, because the processes wait for the\n"
                         "platform or the disk, more are started, up to --max-processes.\n"
                         "When no connection has waited for --calm seconds, they are ended\n"
                         "again."},
    {"--fork",           "PROGRAM is started once and forks the processes, which share its\n"
                         "memory: for the programs of Switchboard. They have the same\n"
                         "addresses, so that a leaked one is valid in all of them."},
    {"--idle",           "Without requests no process is left. A connection starts one, and\n"
                         "others while connections wait, up to --processes."},
    {"connections stay", "A connection that the web server keeps needs no process. The pool\n"
                         "passes it to a free one when it has a request, and takes it back.\n"
                         "It never closes one that waits."},
    {"SIGTERM, SIGINT",  "Each process gets SIGTERM, and SIGKILL after --grace seconds. The\n"
                         "pool then exits with status 0. systemd keeps the connections that\n"
                         "are open for the next pool, if FileDescriptorStoreMax= allows it;\n"
                         "else they are closed."},
    {"SIGHUP",           "The processes are replaced one by one."},
    {"PROGRAM changes",  "The same, also when FILE of --watch changes."},
    {0},
};

static const struct manual_item environment[] = {
    {"LISTEN_PID, LISTEN_FDS", "The socket that systemd passes, and connections of the former pool;\n"
                               "see sd_listen_fds(3)."},
    {"NOTIFY_SOCKET",          "Where systemd takes the connections at the end; see sd_notify(3)."},
    {"SWITCHBOARD_CONFIG",     "The configuration file of the processes, which have the\n"
                               "environment of the pool."},
    {0},
};

static const struct manual_item statuses[] = {
    {"0", "ended by SIGTERM or SIGINT"},
    {"1", "the socket, the program or the pid file cannot be used"},
    {"2", "wrong usage"},
    {0},
};
/* clang-format on */

static const struct program pool = {
    .name = "pool",
    .options = rules,
    .manual = {
        .page = "switchboard-pool",
        .section = "8",
        .summary = "runs processes of a FastCGI program of Switchboard",
        .synopsis = "pool --socket PATH --processes N [OPTIONS] -- PROGRAM [ARGUMENT...]",
        .description =
            "Runs processes of a FastCGI program that accept connections on one unix socket.",
        .behaviour = behaviour,
        .environment = environment,
        .statuses = statuses,
        .see_also = "switchboard(8), switchboard-courier(8), switchboard.conf(5)",
    }};

static int fail(const char *what, const char *name) {
    fprintf(stderr, "pool: %s %s: %s\n", what, name, strerror(errno));
    return EXIT_FAILURE;
}

/* --- the command line --- */

/* Returns -1 to go on, else the exit status. */
static int read_options(int argc, char **argv, struct options *options) {
    int operand, status = program_read_options(&pool, argc, argv, options, &operand);
    if (status >= 0)
        return status;
    options->program = argv + operand;
    if (!*options->program)
        return program_fail_usage(&pool, "no program was given");
    if (!options->processes)
        return program_fail_usage(&pool, "--processes is missing");
    if (options->max_processes < options->processes)
        options->max_processes = options->processes;
    return -1;
}

/* --- start and end --- */

/* Opens the socket: the one that systemd has passed, else that of --socket. Returns -1 to go on,
 * else the exit status. */
static int open_listener(struct listener *listener, const char *path) {
    if (listener_take(listener))
        return -1;
    if (!path)
        return program_fail_usage(&pool, "--socket is missing, and systemd has passed no socket");
    return listener_open(listener, path) == 0 ? -1 : fail("cannot listen on", path);
}

static int write_pid_file(const char *path) {
    if (!path)
        return 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    int failed = dprintf(fd, "%ld\n", (long)getpid()) < 0;
    return close(fd) != 0 || failed ? -1 : 0;
}

/* The processes take a limit from the environment; 0: there is none. */
static void set_limit(const char *variable, long limit) {
    char number[32];
    if (!limit)
        return;
    snprintf(number, sizeof number, "%ld", limit);
    setenv(variable, number, 1);
}

static void configure(struct supervisor *supervisor, const struct options *options) {
    supervisor->program = options->program;
    supervisor->grace_ms = options->grace_s * 1000;
    supervisor->forks = options->forks;
    supervisor->rests = options->idle_s > 0;
    supervisor->sizing.least = options->processes;
    supervisor->sizing.most = options->max_processes;
    supervisor->sizing.calm_ms = options->calm_s * 1000;
}

int main(int argc, char **argv) {
    static struct supervisor supervisor;
    static struct connections connections;
    struct listener listener;
    struct options options = {0};
    int status = read_options(argc, argv, &options);
    if (status >= 0)
        return status;
    configure(&supervisor, &options);
    if (supervisor_watch(&supervisor, options.program[0], X_OK) != 0)
        return fail("cannot find", options.program[0]);
    if (options.watch && supervisor_watch(&supervisor, options.watch, F_OK) != 0)
        return fail("cannot find", options.watch);
    if (supervisor_block_signals(&supervisor) != 0)
        return fail("cannot read", "signals");
    if ((status = open_listener(&listener, options.socket)) >= 0)
        return status;
    if (options.forks && parent_prepare() != 0)
        return fail("cannot become the subreaper of", options.program[0]);
    set_limit("SWITCHBOARD_MAX_REQUESTS", options.max_requests);
    set_limit(CONNECTIONS_IDLE, options.idle_s);
    if (connections_start(&connections, &listener, options.max_processes) != 0)
        return fail("cannot wait for", "connections");
    supervisor.connections = &connections;
    supervisor.sockets = (struct program_sockets){listener.fd, connections.programs_end};
    if (write_pid_file(options.pid_file) != 0)
        return fail("cannot write", options.pid_file);
    supervisor_run(&supervisor);
    connections_leave(&connections);
    listener_remove(&listener);
    if (options.pid_file)
        unlink(options.pid_file);
    return EXIT_SUCCESS;
}
