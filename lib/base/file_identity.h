/* Whether a file is still the one that was seen before, by what stat(2) returned for it. */
#ifndef SWITCHBOARD_FILE_IDENTITY_H
#define SWITCHBOARD_FILE_IDENTITY_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether both are the same file, whatever its content is now. A file that another one replaced
 * under the same name (rename(2)) is not. */
static inline bool file_is_same(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Whether both are the same file with the same content, as far as its size and the time of its last
 * modification show. */
static inline bool file_is_unchanged(const struct stat *before, const struct stat *now) {
    return file_is_same(before, now) && before->st_size == now->st_size &&
           before->st_mtim.tv_sec == now->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

/* Whether `path` names this file now. */
static inline bool file_is_at(const struct stat *file, const char *path) {
    struct stat now;
    return stat(path, &now) == 0 && file_is_same(file, &now);
}

/* A number of the file, to be stored where another process compares it: those of different files
 * differ, except by an improbable coincidence. */
static inline unsigned long long file_number(const struct stat *file) {
    return (unsigned long long)file->st_ino ^ (unsigned long long)file->st_dev << 40;
}

#endif
