#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* For file systems without O_TMPFILE: creates a file with a name and unlinks it at once. */
static int open_and_unlink(const char *dir) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/upload.XXXXXX", dir) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

int spool_open(const char *dir) {
    int file = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    return file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
               ? open_and_unlink(dir)
               : file;
}
