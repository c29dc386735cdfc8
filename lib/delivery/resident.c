#include "delivery/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/counters.h"
#include "base/http_client.h"
#include "base/log.h"
#include "base/process/confine.h"
#include "base/process/signals.h"

enum { GRACE_MS = 14 * 1000 /* many service managers send SIGKILL after 15 s */ };

int resident_fail(const struct resident *resident, const char *what, const char *detail) {
    fprintf(stderr, "%s: %s%s\n", resident->program->name, what, detail);
    return 1;
}

/* --- the pid file --- */

/* Creates the file, empty, before the process is confined. The id is written when signals are
 * blocked, so that a program which reads it can send them. */
static int pid_file_create(struct pid_file *file) {
    file->fd = -1;
    if (!file->path)
        return 0;
    file->fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    confine_removable(file->path);
    return file->fd < 0 ? -1 : 0;
}

static int pid_file_write(const struct pid_file *file) {
    if (file->fd < 0)
        return 0;
    int failed = dprintf(file->fd, "%ld\n", (long)getpid()) < 0;
    return close(file->fd) != 0 || failed ? -1 : 0;
}

static int fail_pid_file(const struct resident *resident) {
    resident_fail(resident, "cannot write the pid file: ", strerror(errno));
    return -1;
}

/* --- the command line --- */

/* Reads the value of --for: seconds, from 1 to 86400, with or without an `s`. Returns milliseconds;
 * 0 on error. */
static int64_t read_duration(const char *text) {
    char *end;
    long seconds = strtol(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9' && (!*end || strcmp(end, "s") == 0);
    return is_number && seconds >= 1 && seconds <= 86400 ? seconds * INT64_C(1000) : 0;
}

int resident_read_options(struct resident *resident, int argc, char **argv, void *values) {
    int operand, status = program_read_options(resident->program, argc, argv, values, &operand);
    if (status >= 0)
        return status;
    resident->resources.config_path = config_path_of(resident->resources.config_path);
    if (resident->duration && !(resident->lasts = read_duration(resident->duration)))
        resident_fail(resident, "--for takes 1s to 86400s, not ", resident->duration);
    else if (operand < argc)
        resident_fail(resident, "see --help; unexpected argument: ", argv[operand]);
    else
        return -1;
    return 2;
}

/* --- begin and end --- */

static void open_log(const struct resident *resident) {
    char problem[MAPPED_FILE_PROBLEM_SIZE];
    log_open();
    counters_open(resident->resources.config.metrics_file, problem);
    if (*problem)
        log_message(LOG_WARN, "%s", problem);
    counters_add(COUNTERS_STARTS, resident->program->name, 1);
    if (resident->prepare)
        resident->prepare(&resident->resources.config);
}

static void confine_resident(struct resident *resident, unsigned needs) {
    struct resources *resources = &resident->resources;
    confine(needs, false, resources->config_path, &resources->config);
    resources->needs = needs;
#ifdef SWITCHBOARD_PROBE
    probe_process(needs, &resources->config, resources->config_path);
#endif
}

int resident_begin(struct resident *resident, unsigned needs) {
    const char *error;
    confine_memory();
    resident->started = clock_monotonic();
    if (resources_configure(&resident->resources, &error)) {
        resident_fail(resident, "", error);
        return -1;
    }
    if (pid_file_create(&resident->pid_file))
        return fail_pid_file(resident);
    const bool has_curl = http_prepare();
    open_log(resident);
    confine_resident(resident, needs);
    signal(SIGPIPE, SIG_IGN);
    resident->signals = signals_open((const int[]){SIGTERM, SIGINT, SIGHUP, 0});
    if (has_curl && resident->signals >= 0)
        return 0;
    resident_fail(resident, "", "out of memory or descriptors");
    return -1;
}

int resident_is_ready(const struct resident *resident, const char *id) {
    if (pid_file_write(&resident->pid_file))
        return fail_pid_file(resident);
    log_message(LOG_INFO, "%s %s begins on host %s, pid %ld", resident->program->name, id,
                resident->resources.config.host, (long)getpid());
    return 0;
}

void resident_end(struct resident *resident) {
    resources_free(&resident->resources);
    curl_global_cleanup();
    if (resident->pid_file.path)
        unlink(resident->pid_file.path);
}

/* --- the main loop --- */

static void stop(struct resident *resident) {
    const int64_t now = clock_monotonic();
    resident->stop_at = resident->is_stopping ? now : now + GRACE_MS;
    resident->is_stopping = true;
}

void resident_stop_in_time(struct resident *resident, int64_t now) {
    if (resident->lasts && !resident->is_stopping && now - resident->started >= resident->lasts)
        stop(resident);
}

static void configure(struct resident *resident) {
    const char *error;
    if (resources_configure(&resident->resources, &error))
        log_message(LOG_ERROR, "%s; the configuration stays as it was", error);
    else
        log_message(LOG_INFO, "the configuration was read again");
}

void resident_take_signals(struct resident *resident) {
    struct signalfd_siginfo caught;
    while (read(resident->signals, &caught, sizeof caught) == sizeof caught) {
        if (caught.ssi_signo == SIGHUP)
            configure(resident);
        else
            stop(resident);
        resident->was_signalled = resident->is_stopping;
    }
}

struct store_heartbeat resident_heartbeat(const struct resident *resident) {
    return (struct store_heartbeat){.name = resident->program->name,
                                    .host = resident->resources.config.host,
                                    .pid = getpid(),
                                    .at = clock_now(),
                                    .keys = "",
                                    .clock_ahead_ms = clock_ahead()};
}
