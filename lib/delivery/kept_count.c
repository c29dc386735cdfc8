#include "delivery/kept_count.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/id.h"

bool kept_is_waiting(const char *name) {
    return kept_is_name(name, "") && !strchr(name, '.') && strlen(name) < ID_SIZE;
}

bool kept_is_name(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return strncmp(name, KEPT_PREFIX, strlen(KEPT_PREFIX)) == 0 && n >= m &&
           strcmp(name + n - m, end) == 0;
}

int kept_count(const char *path, struct kept_tally *tally) {
    struct stat file;
    char oldest[ID_SIZE] = "~";
    DIR *directory = opendir(path);
    *tally = (struct kept_tally){0};
    if (!directory)
        return -1;
    for (struct dirent *entry; (entry = readdir(directory));) {
        tally->waiting += kept_is_waiting(entry->d_name);
        tally->refused += kept_is_name(entry->d_name, KEPT_REFUSED);
        if (kept_is_waiting(entry->d_name) && strcmp(entry->d_name, oldest) < 0)
            snprintf(oldest, sizeof oldest, "%.*s", ID_SIZE - 1, entry->d_name);
    }
    if (tally->waiting && fstatat(dirfd(directory), oldest, &file, 0) == 0)
        tally->since = file.st_mtim.tv_sec * INT64_C(1000);
    closedir(directory);
    return 0;
}
