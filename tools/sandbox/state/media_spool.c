#include "state/media_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "text/memory.h"

static struct {
    pthread_mutex_t lock;
    struct arena *arena; /* of the path of a temporary directory, which is ours to delete */
    const char *path;
} spool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void spool_directory(const char *path) {
    spool.path = path;
}

static void make_directory(void) {
    const char *parent = getenv("TMPDIR");
    spool.arena = memory_open();
    char *path =
        arena_printf(spool.arena, "%s/switchboard-sandbox.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(path))
        perror("switchboard-sandbox: a temporary directory");
    spool.path = path;
}

int spool_create(struct arena *arena, const char **path) {
    pthread_mutex_lock(&spool.lock);
    if (!spool.path)
        make_directory();
    char *made = arena_printf(arena, "%s/upload.XXXXXX", spool.path);
    pthread_mutex_unlock(&spool.lock);
    int file = mkostemp(made, O_CLOEXEC);
    if (file < 0)
        fprintf(stderr, "switchboard-sandbox: %s: %s\n", made, strerror(errno));
    *path = file < 0 ? NULL : made;
    return file;
}

void spool_remove(void) {
    pthread_mutex_lock(&spool.lock);
    if (spool.arena) {
        rmdir(spool.path);
        memory_close(spool.arena);
        spool.arena = NULL;
        spool.path = NULL;
    }
    pthread_mutex_unlock(&spool.lock);
}
