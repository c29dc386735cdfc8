#include "state/sandbox.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_ushort port_taken;

void state_read(void) {
    pthread_rwlock_rdlock(&lock);
}

void state_write(void) {
    pthread_rwlock_wrlock(&lock);
}

void state_done(void) {
    pthread_rwlock_unlock(&lock);
}

void sandbox_set_port(uint16_t port) {
    port_taken = port;
}

uint16_t sandbox_port(void) {
    return port_taken;
}
