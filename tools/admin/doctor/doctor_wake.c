/* The check of doctor that programs can notify the courier of this host (wake.h). */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../key_hosts.h"
#include "delivery/wake.h"
#include "doctor.h"
#include "store/heartbeat.h"

/* Returns why the service cannot use the directory; NULL: it can. */
static const char *problem_of_directory(struct invocation *call, const char *path) {
    const struct store_file needed = {path, W_OK | X_OK, false};
    struct stat directory, owner;
    struct verdict verdict = {.file = -1};
    if (stat(path, &directory) != 0)
        return arena_printf(&call->arena,
                            "%s; create it with the owner, group and mode of the spool directory",
                            strerror(errno));
    if (!S_ISDIR(directory.st_mode))
        return "it is not a directory";
    if (doctor_find_service(call, &owner) && doctor_try(&owner, &needed, 1, &verdict) &&
        verdict.file >= 0)
        return arena_printf(&call->arena,
                            "the service's user %ld and group %ld cannot write it: %s; give it the "
                            "owner, group and mode of the spool directory",
                            (long)owner.st_uid, (long)owner.st_gid, strerror(verdict.error));
    if (directory.st_mode & S_IWOTH)
        return arena_printf(&call->arena, "it has mode %04o, all users may write it: chmod o-w %s",
                            (unsigned)(directory.st_mode & 07777), path);
    return NULL;
}

/* Whether the process of the last heartbeat of this host runs. That of `courier --once` does not.
 */
static bool has_courier(struct invocation *call) {
    struct store_heartbeat *hosts;
    size_t count = 0;
    if (!call->store ||
        store_list_heartbeats(call->store, &call->arena, &hosts, &count) != STORE_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!key_host_is_other(call, &hosts[i]) &&
            key_host_silence(call, &hosts[i]) <= HEARTBEAT_SILENT_S && hosts[i].pid > 0 &&
            (kill((pid_t)hosts[i].pid, 0) == 0 || errno == EPERM))
            return true;
    return false;
}

static void check_socket(struct report *report, const char *path) {
    const char *socket = report->call->config.wake_socket;
    switch (wake_find(&report->call->config)) {
    case WAKE_LISTENS: report_add(report, OK, "run_dir", "a courier listens at %s", socket); return;
    case WAKE_UNKNOWN:
        report_add(report, WARN, "run_dir", "%s: %s; is it the socket of a courier?", socket,
                   strerror(errno));
        return;
    case WAKE_ABANDONED:
        report_add(report, WARN, "run_dir",
                   "the courier that listened at %s has ended: start switchboard-courier", socket);
        return;
    case WAKE_MISSING: break;
    }
    if (has_courier(report->call))
        report_add(report, WARN, "run_dir",
                   "a courier of this host is alive, but it does not listen at %s: start it again, "
                   "with this configuration; until then events wait for up to one second",
                   socket);
    else
        report_add(report, OK, "run_dir", "%s can be used; no courier listens there", path);
}

void doctor_check_wake(struct report *report) {
    const char *path = report->call->config.run_dir;
    const char *problem = problem_of_directory(report->call, path);
    if (!problem)
        check_socket(report, path);
    else
        report_add(report, WARN, "run_dir",
                   "%s: %s; until then no program can notify the courier, and events wait for up "
                   "to one second",
                   path, problem);
}
