/* Passes an open descriptor to another process through a connected Unix socket (SCM_RIGHTS,
 * unix(7)). */
#ifndef SWITCHBOARD_DESCRIPTOR_H
#define SWITCHBOARD_DESCRIPTOR_H

/* Sends a text, which may be empty, with a duplicate of `fd`; `flags` as in sendmsg(2), without
 * SIGPIPE. The caller keeps `fd`. Returns 0, or -1 with errno: EAGAIN with MSG_DONTWAIT when the
 * queue of the socket is full, ETOOMANYREFS when this user has as many descriptors in such queues
 * as it may open. */
int descriptor_send(int socket, const char *text, int fd, int flags);

/* Receives a descriptor, without the text. The caller closes it; it is closed on execve(2). `flags`
 * as in recvmsg(2). Returns -1 with errno: EAGAIN with MSG_DONTWAIT when none waits, EPIPE when the
 * other end is closed, EBADMSG when a message has none. */
int descriptor_receive(int socket, int flags);

#endif
