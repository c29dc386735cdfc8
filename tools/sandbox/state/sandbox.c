#include "state/sandbox.h"

#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

/* Written before the first request is taken. */
static const char *public_url;
static char own[80]; /* `HOST:PORT` */

void state_read(void) {
    pthread_rwlock_rdlock(&lock);
}

void state_write(void) {
    pthread_rwlock_wrlock(&lock);
}

void state_done(void) {
    pthread_rwlock_unlock(&lock);
}

void sandbox_set_public_url(const char *url) {
    public_url = url;
}

void sandbox_set_address(const char *host, uint16_t port) {
    snprintf(own, sizeof own, "%s:%u", host, port);
}

const char *sandbox_origin(struct arena *arena, const char *host) {
    return public_url ? public_url : arena_printf(arena, "http://%s", host ? host : own);
}
