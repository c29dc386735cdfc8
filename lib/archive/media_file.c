#include "archive/media_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FILE_MODE = 0660, DIRECTORY_MODE = 0770, FREE_PARTS = 10 };

static bool is_short(int n) {
    if (n >= 0 && n < PATH_MAX)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static bool part_path(char path[PATH_MAX], const char *archive,
                      const struct store_media_copy *row) {
    return is_short(snprintf(path, PATH_MAX, "%s/%s/%s/%s.part", archive, row->user_id, row->month,
                             row->message_id));
}

static bool file_path(char path[PATH_MAX], const char *archive,
                      const struct store_media_copy *row) {
    return is_short(
        snprintf(path, PATH_MAX, "%s/%s/%s/%s", archive, row->user_id, row->month, row->sha256));
}

bool media_file_has_room(const char *archive, int *error) {
    struct statfs disk;
    const int directory = open(archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *error = directory < 0 || fstatfs(directory, &disk) != 0 ? errno : 0;
    if (directory >= 0)
        close(directory);
    return !*error && disk.f_bavail > disk.f_blocks / FREE_PARTS;
}

/* --- writing --- */

static bool sync_directory(const char *path) {
    const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool done = directory >= 0 && fsync(directory) == 0;
    if (directory >= 0)
        close(directory);
    return done;
}

/* Makes the directories of `path` below the archive, which exists. */
static bool make_directories(char *path, size_t archive) {
    for (char *end = strchr(path + archive + 1, '/'), *before = path + archive; end;
         before = end, end = strchr(end + 1, '/')) {
        *end = '\0';
        const bool is_new = mkdirat(AT_FDCWD, path, DIRECTORY_MODE) == 0;
        bool done = is_new || errno == EEXIST;
        *end = '/';
        if (is_new) {
            *before = '\0';
            done = sync_directory(path);
            *before = '/';
        }
        if (!done)
            return false;
    }
    return true;
}

int media_file_begin(const char *archive, const struct store_media_copy *row) {
    char path[PATH_MAX];
    if (!part_path(path, archive, row) || !make_directories(path, strlen(archive)) ||
        (unlink(path) != 0 && errno != ENOENT))
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
}

/* Whether the path is that of the open file: another sender may have replaced it. */
static bool is_own(const char *path, int file) {
    struct stat named, own;
    return stat(path, &named) == 0 && fstat(file, &own) == 0 && named.st_dev == own.st_dev &&
           named.st_ino == own.st_ino;
}

bool media_file_place(const char *archive, const struct store_media_copy *row, int file) {
    char part[PATH_MAX], path[PATH_MAX];
    if (!part_path(part, archive, row) || !file_path(path, archive, row))
        return false;
    if (!is_own(path, file) &&
        (!is_own(part, file) || renameat(AT_FDCWD, part, AT_FDCWD, path) != 0))
        return false;
    *strrchr(part, '/') = '\0';
    return sync_directory(part);
}

void media_file_end(const char *archive, const struct store_media_copy *row, int file) {
    char part[PATH_MAX];
    if (part_path(part, archive, row) && is_own(part, file))
        unlink(part);
    close(file);
}

void media_file_drop(const char *archive, const struct store_media_copy *row) {
    char part[PATH_MAX];
    if (part_path(part, archive, row))
        unlink(part);
}

bool media_file_remove(const char *archive, const struct store_media_copy *row, bool is_shared) {
    char part[PATH_MAX], path[PATH_MAX];
    if (!part_path(part, archive, row) || (unlink(part) != 0 && errno != ENOENT))
        return false;
    if (is_shared || !row->sha256)
        return true;
    return file_path(path, archive, row) && (unlink(path) == 0 || errno == ENOENT);
}

/* --- reading --- */

int media_file_open(const char *archive, const struct store_media_copy *row, int64_t *size) {
    char path[PATH_MAX];
    struct stat found;
    if (!*archive || !row->sha256 || !file_path(path, archive, row))
        return -1;
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
        *size = found.st_size;
        return file;
    }
    if (file >= 0)
        close(file);
    return -1;
}

bool media_file_is_there(const char *archive, const struct store_media_copy *row) {
    int64_t size = -1;
    const int file = media_file_open(archive, row, &size);
    if (file >= 0)
        close(file);
    return file >= 0 && size == row->size;
}
