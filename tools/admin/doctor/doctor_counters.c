/* The check of doctor that the file of the counters (counters.h) can be used. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

static const char *directory_of(struct arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? arena_printf(arena, "%.*s", (int)(slash - path) + 1, path) : ".";
}

/* Returns the reason why the service cannot use the file, or create the missing one; NULL: it can.
 */
static const char *problem_of(struct invocation *call, const char *path) {
    struct stat file, owner;
    struct verdict verdict = {.file = -1};
    const bool is_missing = lstat(path, &file) != 0;
    if (is_missing && errno != ENOENT)
        return strerror(errno);
    if (!is_missing && !S_ISREG(file.st_mode))
        return "it is not a file";
    const struct store_file needed =
        is_missing ? (struct store_file){directory_of(&call->arena, path), W_OK | X_OK, false}
                   : (struct store_file){path, R_OK | W_OK, false};
    if (doctor_find_service(call, &owner) && doctor_try(&owner, &needed, 1, &verdict) &&
        verdict.file >= 0)
        return arena_printf(&call->arena, "the service cannot %s: %s",
                            is_missing ? "create it" : "write it", strerror(verdict.error));
    return NULL;
}

void doctor_check_counters(struct report *report) {
    struct invocation *call = report->call;
    const char *path = call->config.metrics_file;
    const char *problem = *path ? problem_of(call, path) : NULL;
    if (!*path)
        report_add(report, OK, "counters", "metrics_file is empty: nothing is counted");
    else if (problem)
        report_add(report, WARN, "counters",
                   "nothing is counted for GET /metrics: metrics_file %s: %s; remove it, or give "
                   "it and its directory the owner, group and mode of the database's",
                   path, problem);
    else
        report_add(report, OK, "counters", "%s can be used", path);
}
