/* lib/delivery/wake.h */
#include "delivery/wake.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

static char directory[256];

/* Rings, listens, gives up and takes over, beside a database of the given name. */
static void check_bell(const char *database) {
    struct config config = {.database = database};
    struct wake_listener first = wake_closed(), second = wake_closed();
    courier_wake(&config); /* nobody there */
    wake_listen(&first, database);
    check(first.fd >= 0, "%s", database);
    check(!wake_drain(&first), "not rung yet");
    courier_wake(&config);
    courier_wake(&config);
    check(wake_drain(&first), "rung");
    check(!wake_drain(&first), "once is enough");
    wake_listen(&second, database);
    check(second.fd == -1, "the name is taken");
    for (int i = 0; i < 10000; i++)
        courier_wake(&config); /* never waits, however full the queue */
    wake_listen(&first, database);
    check(wake_drain(&first), "kept");
    wake_close(&first);
    wake_listen(&second, database);
    courier_wake(&config);
    check(wake_drain(&second), "taken over");
    wake_close(&second);
    check(access(database, F_OK) != 0, "nothing but the socket was made");
}

/* A name that a killed courier left, and one that somebody removed. */
static void check_stale(const char *database) {
    char path[1100];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct config config = {.database = database};
    struct wake_listener listener = wake_closed();
    snprintf(path, sizeof path, "%s.wake", database);
    snprintf(address.sun_path, sizeof address.sun_path, "%.107s", path);
    int left = socket(AF_UNIX, SOCK_DGRAM, 0);
    check(bind(left, (struct sockaddr *)&address, sizeof address) == 0, "%s", path);
    close(left);
    wake_listen(&listener, database);
    courier_wake(&config);
    check(wake_drain(&listener), "an abandoned name is taken");
    unlink(path);
    wake_listen(&listener, database);
    courier_wake(&config);
    check(wake_drain(&listener), "a removed name is taken again");
    wake_close(&listener);
    check(access(path, F_OK) != 0, "its own name is removed");
}

int main(void) {
    char database[1024], deep[600];
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%.200s/wake-XXXXXX", temporary ? temporary : "/tmp");
    check(mkdtemp(directory) != NULL, "%s", directory);
    snprintf(database, sizeof database, "%s/gateway.db", directory);
    check_bell(database);
    check_stale(database);

    /* deeper than a socket's name may be long */
    snprintf(deep, sizeof deep, "%s/%0120d", directory, 0);
    check(mkdir(deep, 0700) == 0, "%s", deep);
    snprintf(database, sizeof database, "%s/gateway.db", deep);
    check_bell(database);

    /* where nothing can be bound, nothing happens */
    struct wake_listener listener = wake_closed();
    wake_listen(&listener, "/nonexistent/gateway.db");
    check(listener.fd == -1, "no directory");
    courier_wake(&(struct config){.database = "relative.db"});
    rmdir(deep);
    check(rmdir(directory) == 0, "nothing is left");
    return check_failures();
}
