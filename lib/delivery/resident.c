#include "delivery/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/log.h"
#include "base/process/confine.h"

int pid_file_create(struct pid_file *file) {
    file->fd = -1;
    if (!file->path)
        return 0;
    file->fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    confine_removable(file->path);
    return file->fd < 0 ? -1 : 0;
}

int pid_file_write(struct pid_file *file) {
    if (file->fd < 0)
        return 0;
    int failed = dprintf(file->fd, "%ld\n", (long)getpid()) < 0;
    return close(file->fd) != 0 || failed ? -1 : 0;
}

void pid_file_remove(const struct pid_file *file) {
    if (file->path)
        unlink(file->path);
}

int64_t resident_read_duration(const char *text) {
    char *end;
    long seconds = strtol(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9' && (!*end || strcmp(end, "s") == 0);
    return is_number && seconds >= 1 && seconds <= 86400 ? seconds * INT64_C(1000) : 0;
}

void resident_open_log(const struct config *config, const char *name) {
    char problem[MAPPED_FILE_PROBLEM_SIZE];
    log_open();
    counters_open(config->metrics_file, problem);
    if (*problem)
        log_message(LOG_WARN, "%s", problem);
    counters_add(COUNTERS_STARTS, name, 1);
}
