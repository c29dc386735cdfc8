/* A file whose change replaces the processes of a pool: their program or their configuration. */
#ifndef SWITCHBOARD_WATCHED_H
#define SWITCHBOARD_WATCHED_H

#include <stdbool.h>
#include <sys/stat.h>

struct watched {
    const char *path; /* owned by the caller */
    int access;       /* what the file must permit, as access(2) takes it */
    struct stat used; /* the file that the processes use */
    struct stat seen; /* the file at the last check */
};

/* Begins to watch the file at `path`, which must live as long as `file`. Returns 0, or -1 with
 * errno when it cannot be found. */
int watched_open(struct watched *file, const char *path, int access);

/* Whether the file is another one, or has another content, than at the last call that returned true
 * (at first: than at watched_open). True only when two calls in a row find the same file: until
 * then it may still be being written. */
bool watched_changed(struct watched *file);

#endif
