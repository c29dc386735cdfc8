/* Writes bytes to a descriptor until all are written. */
#ifndef SWITCHBOARD_WRITE_ALL_H
#define SWITCHBOARD_WRITE_ALL_H

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/slice.h"

/* Writes the bytes to `fd`, again after a signal and after each part. Returns false with errno when
 * write(2) fails. Async-signal-safe. */
static inline bool write_all(int fd, struct slice bytes) {
    while (bytes.n) {
        ssize_t wrote = write(fd, bytes.p, bytes.n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        bytes = slice_skip(bytes, (size_t)wrote);
    }
    return true;
}

#endif
