/* pool: runs several processes of a FastCGI program behind one unix socket. See `pool --help`.
 *
 * The processes get the listening socket as their standard input, on which a FastCGI program
 * accepts its connections (FastCGI 1.0, 2.2). The socket stays open while processes are started and
 * ended, so that no connection is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/product.h"
#include "supervisor/listener.h"
#include "supervisor/supervisor.h"

enum {
    GRACE_S = 40, /* a send may wait 5 s to connect to the platform, 30 s for an answer */
    CALM_S = 30,
    EXIT_USAGE = 2,
};

struct options {
    const char *socket, *pid_file, *watch; /* NULL: none */
    long processes, max_processes;
    long calm_s, grace_s;
    long max_requests; /* 0: the program's own default */
    char **program;    /* NULL-terminated, as execv(3) takes it */
};

/* An option with a value. A number if `most` is not 0, else text. */
struct option_rule {
    const char *name, *value;
    size_t member; /* offset in struct options of the long or the const char * */
    long least, most;
    const char *meaning;
};

/* clang-format off */
#define MEMBER(name) offsetof(struct options, name)

static const struct option_rule rules[] = {
    {"socket",        "PATH",    MEMBER(socket),        0, 0,
     "create the socket there; not needed if systemd passes one"},
    {"processes",     "N",       MEMBER(processes),     1, WORKERS_MAX,
     "run N processes"},
    {"max-processes", "N",       MEMBER(max_processes), 1, WORKERS_MAX,
     "run up to N processes while connections wait"},
    {"calm",          "SECONDS", MEMBER(calm_s),        0, 86400,
     "end them again after SECONDS without a waiting connection (30)"},
    {"max-requests",  "M",       MEMBER(max_requests),  1, LONG_MAX,
     "set SWITCHBOARD_MAX_REQUESTS: a process ends after M requests"},
    {"grace",         "SECONDS", MEMBER(grace_s),       0, 3600,
     "send SIGKILL to a process SECONDS after SIGTERM (40)"},
    {"pid-file",      "FILE",    MEMBER(pid_file),      0, 0,
     "write the process id there; removed at the end"},
    {"watch",         "FILE",    MEMBER(watch),         0, 0,
     "replace the processes when FILE changes, such as their configuration"},
};
/* clang-format on */

enum {
    RULES = sizeof rules / sizeof *rules,
    OPTION_HELP = RULES,
    OPTION_VERSION,
    OPTIONS,
};

static int fail(const char *what, const char *name) {
    fprintf(stderr, "pool: %s %s: %s\n", what, name, strerror(errno));
    return EXIT_FAILURE;
}

/* --- the command line --- */

static void print_usage(FILE *to) {
    fputs("usage: pool --socket PATH --processes N [OPTIONS] -- PROGRAM [ARGUMENT...]\n", to);
}

static int fail_usage(const char *what) {
    if (what)
        fprintf(stderr, "pool: %s\n", what);
    print_usage(stderr);
    fputs("`pool --help` describes the options\n", stderr);
    return EXIT_USAGE;
}

static void print_option(const char *name, const char *value, const char *meaning) {
    printf("  --%-14s%-9s%s\n", name, value, meaning);
}

static void print_help(void) {
    print_usage(stdout);
    puts(
        "\n"
        "Runs processes of a FastCGI program that accept connections on one unix socket.\n"
        "\n"
        "  a process ends     Another is started. After one that ended early, the next start is\n"
        "                     delayed, longer each time.\n"
        "  connections wait   If processors are free, because the processes wait for the platform\n"
        "                     or the disk, more are started, up to --max-processes. When no\n"
        "                     connection has waited for --calm seconds, they are ended again.\n"
        "  SIGTERM, SIGINT    Each process gets SIGTERM, and SIGKILL after --grace seconds. The\n"
        "                     pool then exits with status 0.\n"
        "  SIGHUP             The processes are replaced one by one.\n"
        "  PROGRAM changes    The same, also when FILE of --watch changes.\n");
    for (const struct option_rule *rule = rules; rule < rules + RULES; rule++)
        print_option(rule->name, rule->value, rule->meaning);
    print_option("help", "", "print this text");
    print_option("version", "", "print name and version");
}

/* Sets the member of an option. Returns 0 or EXIT_USAGE. */
static int set_option(struct options *options, const struct option_rule *rule, const char *value) {
    void *member = (char *)options + rule->member;
    if (!rule->most) {
        *(const char **)member = value;
        return 0;
    }
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < rule->least || number > rule->most) {
        fprintf(stderr, "pool: --%s takes a number from %ld to %ld, not %s\n", rule->name,
                rule->least, rule->most, value);
        return EXIT_USAGE;
    }
    *(long *)member = number;
    return 0;
}

static int check_options(struct options *options) {
    if (!*options->program)
        return fail_usage("no program was given");
    if (!options->processes)
        return fail_usage("--processes is missing");
    if (options->max_processes < options->processes)
        options->max_processes = options->processes;
    return -1;
}

/* Returns -1 to go on, else the exit status. */
static int read_options(int argc, char **argv, struct options *options) {
    struct option table[OPTIONS + 1] = {
        [OPTION_HELP] = {"help", no_argument, NULL, OPTION_HELP},
        [OPTION_VERSION] = {"version", no_argument, NULL, OPTION_VERSION},
    };
    for (int i = 0; i < RULES; i++)
        table[i] = (struct option){rules[i].name, required_argument, NULL, i};
    for (int found; (found = getopt_long(argc, argv, "+", table, NULL)) != -1;) {
        switch (found) {
        case OPTION_HELP: print_help(); return EXIT_SUCCESS;
        case OPTION_VERSION: puts(SWITCHBOARD_NAME " " SWITCHBOARD_VERSION); return EXIT_SUCCESS;
        case '?': return fail_usage(NULL); /* getopt_long has printed the reason */
        default:
            if (set_option(options, &rules[found], optarg) != 0)
                return EXIT_USAGE;
        }
    }
    options->program = argv + optind;
    return check_options(options);
}

/* --- start and end --- */

/* Opens the socket: the one that systemd has passed, else that of --socket. Returns -1 to go on,
 * else the exit status. */
static int open_listener(struct listener *listener, const char *path) {
    if (listener_take(listener))
        return -1;
    if (!path)
        return fail_usage("--socket is missing, and systemd has passed no socket");
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

/* The processes take the limit from the environment. */
static void limit_requests(long max_requests) {
    char number[32];
    if (!max_requests)
        return;
    snprintf(number, sizeof number, "%ld", max_requests);
    setenv("SWITCHBOARD_MAX_REQUESTS", number, 1);
}

static void configure(struct supervisor *supervisor, const struct options *options) {
    supervisor->program = options->program;
    supervisor->grace_ms = options->grace_s * 1000;
    supervisor->sizing.least = options->processes;
    supervisor->sizing.most = options->max_processes;
    supervisor->sizing.calm_ms = options->calm_s * 1000;
}

int main(int argc, char **argv) {
    static struct supervisor supervisor;
    struct listener listener;
    struct options options = {.grace_s = GRACE_S, .calm_s = CALM_S};
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
    supervisor.listener = &listener;
    limit_requests(options.max_requests);
    if (write_pid_file(options.pid_file) != 0)
        return fail("cannot write", options.pid_file);
    supervisor_run(&supervisor);
    listener_remove(&listener);
    if (options.pid_file)
        unlink(options.pid_file);
    return EXIT_SUCCESS;
}
