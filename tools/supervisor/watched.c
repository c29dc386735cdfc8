#include "watched.h"

#include <unistd.h>

#include "base/file_identity.h"

int watched_open(struct watched *file, const char *path, int access) {
    file->path = path;
    file->access = access;
    if (stat(path, &file->used) != 0)
        return -1;
    file->seen = file->used;
    return 0;
}

bool watched_changed(struct watched *file) {
    struct stat found;
    if (stat(file->path, &found) != 0)
        return false;
    bool has_changed = !file_is_unchanged(&file->used, &found) &&
                       file_is_unchanged(&file->seen, &found) &&
                       access(file->path, file->access) == 0;
    file->seen = found;
    if (has_changed)
        file->used = found;
    return has_changed;
}
