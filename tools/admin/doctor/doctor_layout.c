/* The check of doctor that no file lies where a program that is taken over could replace it
 * (confine.h): the rights of a program in a directory hold for everything below it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_identity.h"
#include "base/target.h"
#include "doctor.h"

/* A directory in which programs change files. */
struct writable {
    const char *what, *path, *danger;
    const char *own; /* the file that belongs there; NULL: no other one */
};

/* A file, or a directory of programs, that must not lie there; "": there is none. */
struct protected {
    const char *what, *path;
};

static const char *directory_of(struct arena *arena, const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return !slash ? "" : arena_printf(arena, "%.*s", (int)(slash - path) + (slash == path), path);
}

/* Whether the file that `path` resolves to, or a directory above it, is `directory`. */
static bool resolves_below(const char *path, const struct stat *directory) {
    char real[PATH_MAX];
    if (!realpath(path, real))
        return false;
    for (;;) {
        if (file_is_at(directory, real))
            return true;
        char *slash = strrchr(real, '/');
        if (!slash || !real[1])
            return false;
        slash[slash == real] = '\0';
    }
}

/* Whether the path leads through the directory. Each part of it may be a symbolic link, which a
 * program could replace. */
static bool leads_through(const char *path, const struct stat *directory) {
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return false;
    for (char *slash; *part; *slash = '\0') {
        if (resolves_below(part, directory))
            return true;
        slash = strrchr(part, '/');
        if (!slash)
            return false;
    }
    return false;
}

/* Reports what lies below the directory. Returns the number of these files. */
static int check_directory(struct report *report, const struct writable *writable,
                           const struct protected *files, size_t count) {
    struct stat directory;
    int found = 0;
    if (!*writable->path || stat(writable->path, &directory) != 0)
        return 0; /* other checks report a missing directory */
    for (size_t i = 0; i < count; i++) {
        if (!*files[i].path || files[i].path == writable->own ||
            !leads_through(files[i].path, &directory))
            continue;
        report_add(report, FAIL, "layout", "%s %s lies below %s %s, %s: move it", files[i].what,
                   files[i].path, writable->what, writable->path, writable->danger);
        found++;
    }
    return found;
}

/* Returns the directory of this program, whose neighbours are the courier and the CGI programs. */
static const char *own_directory(struct arena *arena) {
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    return directory_of(arena, arena_copy(arena, slice_of(program)));
}

void doctor_check_layout(struct report *report) {
    struct invocation *call = report->call;
    const struct config *config = &call->config;
    const char *database = target_file(config->database);
    const char *programs = own_directory(&call->arena);
    const struct writable directories[] = {
        {"the directory of the database", directory_of(&call->arena, database),
         "where a program that writes the database may replace every file", database},
        {"spool_dir", config->spool_dir,
         "where a program that takes uploads may replace every file", NULL},
        {"pending_dir", config->pending_dir, "where a program that sends may replace every file",
         NULL},
        {"run_dir", config->run_dir, "where the courier may remove every file", NULL},
        {"the directory of the log", directory_of(&call->arena, config->log_file),
         "where the courier may replace every file", config->log_file},
    };
    const struct protected files[] = {
        {"the configuration", call->config_path},
        {"secret_key_file", config->secret_key_file},
        {"database", database ? database : ""},
        {"log_file", config->log_file},
        {"metrics_file", config->metrics_file},
        {"requests_file", config->requests_file},
        {"the directory of this program", programs},
        {"the directory of programs",
         arena_printf(&call->arena, "%s/../lib/switchboard/cgi-bin", programs)},
        {"the directory of programs", arena_printf(&call->arena, "%s/../cgi-bin", programs)},
        {"document_root", config->document_root},
    };
    int found = 0;
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        found += check_directory(report, &directories[i], files, sizeof files / sizeof *files);
    if (!found)
        report_add(report, OK, "layout",
                   "keys, configuration, log, counters and programs lie where "
                   "no program may replace them");
}
