#include "base/process/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* The control data of one descriptor, aligned as cmsg(3) requires. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* With its terminator the text is never empty: a stream socket sends no descriptor without a byte.
 */
int descriptor_send(int socket, const char *text, int fd, int flags) {
    union control control = {0};
    struct iovec content = {(void *)(size_t)text, strlen(text) + 1};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

/* The kernel drops, and so closes, descriptors for which `control` has no room. */
int descriptor_receive(int socket, int flags) {
    union control control = {0};
    char byte;
    struct iovec content = {&byte, 1};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    ssize_t got;
    do
        got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got > 0 && message.msg_controllen >= CMSG_LEN(sizeof(int)) &&
        control.header.cmsg_type == SCM_RIGHTS) {
        int fd;
        memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
        return fd;
    }
    if (got >= 0)
        errno = got ? EBADMSG : EPIPE;
    return -1;
}
