#include "descriptor_store.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/process/descriptor.h"

enum { WAIT_S = 2 /* for room in the queue of the service manager */ };

/* The name is a path, or, after an @, that of an abstract socket (unix(7)). */
int descriptor_store_open(void) {
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval limit = {.tv_sec = WAIT_S};
    size_t n = name ? strlen(name) : 0;
    if (!n || n >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, name, n);
    if (*name == '@')
        address.sun_path[0] = '\0';
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0 ||
        connect(fd, (const struct sockaddr *)&address, size) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

void descriptor_store_clear(int store) {
    static const char text[] = "FDSTOREREMOVE=1\nFDNAME=" DESCRIPTOR_STORE_NAME;
    send(store, text, sizeof text - 1, MSG_NOSIGNAL);
}

void descriptor_store_add(int store, int fd) {
    descriptor_send(store, "FDSTORE=1\nFDNAME=" DESCRIPTOR_STORE_NAME, fd, 0);
}
