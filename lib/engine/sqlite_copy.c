#include "engine/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum store_result sql_refuse_file(struct store *store, const char *did, const char *path) {
    int reason = errno;
    enum store_result result = reason == EEXIST                       ? STORE_CONFLICT
                               : reason == ENOSPC || reason == EDQUOT ? STORE_FULL
                                                                      : STORE_UNAVAILABLE;
    return sql_refuse(store, result, "cannot %s %s: %s", did, path, strerror(reason));
}

enum store_result sql_copy(struct store *store, const char *path) {
    static struct statement copy = {.sql = "VACUUM INTO ?1"};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); /* SQLite keeps the mode */
    if (fd < 0)
        return sql_refuse_file(store, "create", path);
    sql_run(store, &copy, TEXT(path));
    enum store_result result = sql_result(store);
    if (result == STORE_OK && fsync(fd) != 0)
        result = sql_refuse_file(store, "flush", path);
    close(fd);
    return result;
}
