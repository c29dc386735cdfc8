#include "connections.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process/descriptor.h"
#include "descriptor_store.h"
#include "program_start.h"

/* HOLDING: connections are taken back from processes, not accepted and not passed. */
enum phase { SERVING, HOLDING, ENDED };

enum awaited { ORDERS, RETURNED, REQUESTS, ACCEPTED };

enum {
    RETRY_MS = 10,
    BATCH = 64,
    OWN_DESCRIPTORS = 64, /* of the pool, beside those of connections */

    /* Bounds the connections on the way to the processes, about forty: the kernel counts those of
     * all processes of a user, and refuses more than the limit of open files (unix(7)). The others
     * wait in `idle`. */
    QUEUE_BYTES = 16384,
};

static bool add(struct connections *c, int fd) {
    struct epoll_event input = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};
    if (fd < c->limit && epoll_ctl(c->idle, EPOLL_CTL_ADD, fd, &input) == 0) {
        c->is_idle[fd] = true;
        c->count++;
        return true;
    }
    close(fd);
    return false;
}

/* A process that has a duplicate keeps the connection open, so that its end does not remove it from
 * `idle`. */
static void drop(struct connections *c, int fd) {
    epoll_ctl(c->idle, EPOLL_CTL_DEL, fd, NULL);
    c->is_idle[fd] = false;
    c->count--;
    close(fd);
}

/* What cannot be accepted waits in the queue of the listener. */
static void accept_all(struct connections *c) {
    int fd = 0;
    for (int i = 0; i < BATCH && c->count < c->most && fd >= 0; i++)
        if ((fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
            add(c, fd);
    c->is_short = c->count >= c->most || (fd < 0 && errno != EAGAIN);
}

static void take_back(struct connections *c) {
    int fd;
    while ((fd = descriptor_receive(c->pool_end, MSG_DONTWAIT)) >= 0 || errno == EBADMSG)
        if (fd >= 0)
            add(c, fd);
}

/* Whether the client has closed the connection and sent no request before. */
static bool has_ended(int fd) {
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Passes the connections with a request, until the queue of the processes is full. */
static void pass_all(struct connections *c) {
    struct epoll_event found[BATCH];
    int count = epoll_wait(c->idle, found, BATCH, 0);
    for (int i = 0; i < count && !c->is_full; i++) {
        int fd = found[i].data.fd;
        bool is_over = found[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) && has_ended(fd);
        if (is_over || descriptor_send(c->pool_end, "", fd, MSG_DONTWAIT) == 0) {
            drop(c, fd);
        } else {
            c->is_full = true;
            c->awaits_room = errno == EAGAIN;
        }
    }
}

/* Waits for something to do. While connections cannot be passed or accepted, the wait for them is
 * left out, and tried again when there is room or after a short time. */
static void await(struct connections *c, enum phase phase) {
    bool serves = phase == SERVING;
    bool retries = serves && (c->is_short || (c->is_full && !c->awaits_room));
    c->awaited[ORDERS] = (struct pollfd){.fd = c->orders, .events = POLLIN};
    c->awaited[RETURNED] = (struct pollfd){
        .fd = c->pool_end,
        .events = (short)(c->is_full && c->awaits_room ? POLLIN | POLLOUT : POLLIN)};
    c->awaited[REQUESTS] =
        (struct pollfd){.fd = serves && !c->is_full ? c->idle : -1, .events = POLLIN};
    c->awaited[ACCEPTED] =
        (struct pollfd){.fd = serves && !c->is_short ? c->listener : -1, .events = POLLIN};
    poll(c->awaited, sizeof c->awaited / sizeof *c->awaited, retries ? RETRY_MS : -1);
    c->is_full = c->is_full && c->awaits_room && !(c->awaited[RETURNED].revents & POLLOUT);
    c->is_short = false;
}

static void *run(void *context) {
    struct connections *c = context;
    for (enum phase phase; (phase = (enum phase)atomic_load(&c->phase)) != ENDED;) {
        uint64_t orders;
        await(c, phase);
        if (c->awaited[ORDERS].revents && read(c->orders, &orders, sizeof orders) < 0)
            continue;
        if (c->awaited[RETURNED].revents & POLLIN)
            take_back(c);
        if (c->awaited[ACCEPTED].revents)
            accept_all(c);
        if (c->awaited[REQUESTS].revents)
            pass_all(c);
    }
    return NULL;
}

static int start_thread(struct connections *c) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the other thread */
    errno = pthread_create(&c->thread, NULL, run, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errno ? -1 : 0;
}

/* At the limit of descriptors the pool accepts no more, so that each one that a process gives back
 * finds room. */
static void set_limits(struct connections *c, long processes) {
    c->limit = program_raise_files();
    c->most = c->limit - OWN_DESCRIPTORS - processes;
    if (c->most < c->limit / 2)
        c->most = c->limit / 2;
}

/* Takes the connections of the former pool. */
static void take_passed(struct connections *c, const struct listener *listener) {
    if (listener->passed_end - listener->passed <= 1)
        return;
    for (int fd = listener->passed; fd < listener->passed_end; fd++)
        if (fd != c->listener)
            add(c, fd);
    int store = descriptor_store_open();
    if (store >= 0)
        descriptor_store_clear(store);
    if (store >= 0)
        close(store);
}

int connections_start(struct connections *c, const struct listener *listener, long processes) {
    const int queue = QUEUE_BYTES;
    int ends[2];
    *c = (struct connections){.listener = listener->fd};
    set_limits(c, processes);
    c->is_idle = calloc((size_t)c->limit, sizeof *c->is_idle);
    if (!c->is_idle || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    c->pool_end = ends[0];
    c->programs_end = ends[1];
    c->idle = epoll_create1(EPOLL_CLOEXEC);
    c->orders = eventfd(0, EFD_CLOEXEC);
    if (c->idle < 0 || c->orders < 0 ||
        setsockopt(c->pool_end, SOL_SOCKET, SO_SNDBUF, &queue, sizeof queue) != 0 ||
        fcntl(c->listener, F_SETFL, O_NONBLOCK) != 0)
        return -1;
    take_passed(c, listener);
    return start_thread(c);
}

bool connections_have_waiting(const struct connections *c) {
    struct pollfd polled = {.fd = c->programs_end, .events = POLLIN};
    return poll(&polled, 1, 0) > 0;
}

static void set_phase(struct connections *c, enum phase phase) {
    const uint64_t one = 1;
    if (atomic_exchange(&c->phase, phase) != (int)phase && write(c->orders, &one, sizeof one) < 0)
        abort(); /* an eventfd takes 2^64 - 2 of them */
}

void connections_hold(struct connections *c) {
    set_phase(c, HOLDING);
}

void connections_leave(struct connections *c) {
    set_phase(c, ENDED);
    pthread_join(c->thread, NULL);
    take_back(c);
    for (int fd; (fd = descriptor_receive(c->programs_end, MSG_DONTWAIT)) >= 0;)
        add(c, fd); /* passed, and taken by no process */
    int store = c->count ? descriptor_store_open() : -1;
    for (int fd = 0; fd < c->limit && store >= 0; fd++)
        if (c->is_idle[fd])
            descriptor_store_add(store, fd);
}
