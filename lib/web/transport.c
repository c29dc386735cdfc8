#include "web/transport.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process/executable.h"
#include "base/write_all.h"
#include "web/next_connection.h"

enum {
    MAX_PIECES = 8,
    HEAD_MS = 5000,  /* time limit for the head of a FastCGI request: Apache sends it at once */
    DRAIN_MS = 1000, /* time limit for the drain of a CGI; then it shuts standard input down */
    REPEAT_MS = 100, /* after the time limit SIGALRM repeats: one may come just before the read */
};

static enum { UNKNOWN, CGI, FASTCGI } kind;
static FCGX_Request fastcgi;
static bool keep_asked; /* by the web server, for the connection of the current request */
static bool served;     /* a CGI has accepted its one request */
static bool at_end;     /* of the current request's body */
static long requests_left = -1;
static bool is_stopped;  /* by transport_stop */
static bool is_replying; /* a part of a reply was written, or there is no request */
static volatile sig_atomic_t is_terminated;
static int needed_connection = -1;       /* of transport_end_with */
static volatile sig_atomic_t is_late;    /* the request exceeded its time limit */
static volatile int64_t time_left_ms;    /* of that limit, before this read; only reads count */
static volatile int64_t read_since;      /* clock_monotonic at the start of this read */
static volatile sig_atomic_t is_reading; /* a read is running */
static volatile sig_atomic_t is_armed;   /* the timer will send SIGALRM */

static void on_terminate(int signal) {
    (void)signal;
    is_terminated = 1;
}

/* SIGIO comes after any input, and is blocked during a request: only the end counts. */
static void on_input(int signal) {
    (void)signal;
    int saved = errno;
    struct pollfd input = {.fd = needed_connection, .events = POLLRDHUP};
    if (poll(&input, 1, 0) > 0)
        is_terminated = 1;
    errno = saved;
}

void transport_end_with(int connection) {
    if (!transport_is_fastcgi() || connection < 0)
        return;
    struct sigaction action = {.sa_handler = on_input}; /* no SA_RESTART: it must end accept */
    needed_connection = connection;
    sigaction(SIGIO, &action, NULL);
    fcntl(connection, F_SETOWN, getpid());
    fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) | O_ASYNC);
}

static void set_timer(int64_t ms) {
    const struct itimerval timer = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
    is_armed = ms > 0;
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The timer of a FastCGI process runs on: the next read finds it started. */
static void stop_timer(void) {
    if (is_armed && kind == CGI)
        set_timer(0);
}

/* The time from now until the timer shall end, for a limit that ends in `left` ms. */
static int64_t step_to(int64_t left) {
    if (kind == FASTCGI && left > HEAD_MS)
        return HEAD_MS;
    return left > 0 ? left : 1;
}

static int64_t left_of_read(void) {
    return time_left_ms - (clock_monotonic() - read_since);
}

/* The timer is started once for a body, since its time limit only moves later: by received bytes,
 * and by the time between reads. That of a FastCGI process ends after HEAD_MS at most, the shortest
 * limit, so that it may run since an earlier request. If the limit is later, starts the timer for
 * the rest. Else ends the blocked read. In a CGI the signal interrupts it. libfcgi would drop the
 * connection on an interruption, so its reads restart, and the shutdown makes them end after the
 * bytes that have arrived. */
static void on_alarm(int signal) {
    (void)signal;
    int saved = errno;
    is_armed = 0;
    if (is_reading) { /* else the next read starts the timer */
        int64_t left = left_of_read();
        is_late = is_late || left <= 0;
        if (is_late && kind == FASTCGI)
            shutdown(fastcgi.ipcFd, SHUT_RD);
        set_timer(is_late ? REPEAT_MS : step_to(left));
    }
    errno = saved;
}

static void watch_time(void) {
    struct sigaction action = {.sa_handler = on_alarm,
                               .sa_flags = kind == FASTCGI ? SA_RESTART : 0};
    sigaction(SIGALRM, &action, NULL);
}

static void start_read(void) {
    read_since = clock_monotonic();
    is_reading = 1;
    if (!is_armed)
        set_timer(step_to(time_left_ms));
}

static void end_read(void) {
    is_reading = 0;
    time_left_ms = left_of_read();
}

/* A FastCGI process ends after its current request on SIGTERM, after SWITCHBOARD_MAX_REQUESTS
 * requests, and when its executable was replaced; the pool starts the next process. */
static void start_fastcgi(void) {
    struct sigaction action = {.sa_handler = on_terminate}; /* no SA_RESTART: it must end accept */
    sigaction(SIGTERM, &action, NULL);
    watch_time();
    signal(SIGPIPE, SIG_IGN);
    const char *limit = getenv("SWITCHBOARD_MAX_REQUESTS");
    requests_left = limit && *limit ? strtol(limit, NULL, 10) : 0;
    if (requests_left <= 0)
        requests_left = LONG_MAX;
    executable_open();
    next_connection_open();
    FCGX_Init();
    FCGX_InitRequest(&fastcgi, -1, FCGI_FAIL_ACCEPT_ON_INTR); /* -1: it does not accept */
}

bool transport_is_fastcgi(void) {
    if (kind == UNKNOWN) {
        kind = FCGX_IsCGI() ? CGI : FASTCGI;
        if (kind == FASTCGI)
            start_fastcgi();
    }
    return kind == FASTCGI;
}

/* Reads the head of the request on a connection. Returns false when there is none or it exceeded
 * its time limit; FCGX_Finish_r then closes the connection, if libfcgi has not done so. */
static bool read_head(int connection) {
    fastcgi.ipcFd = connection;
    fastcgi.keepConnection = 1; /* else libfcgi closes it at once */
    start_read();
    bool is_read = FCGX_Accept_r(&fastcgi) >= 0;
    end_read();
    keep_asked = fastcgi.keepConnection;
    fastcgi.keepConnection = 0;
    return is_read && !is_late;
}

static bool must_end(void) {
    return is_stopped || is_terminated || requests_left <= 0 || executable_was_replaced();
}

static bool accept_fastcgi(void) {
    for (int connection; (connection = next_connection_await(fastcgi.ipcFd, must_end)) >= 0;
         FCGX_Finish_r(&fastcgi)) {
        time_left_ms = HEAD_MS;
        is_late = 0;
        bool is_read = read_head(connection);
        time_left_ms = TRANSPORT_TIMEOUT_S * 1000;
        if (is_read)
            return true;
    }
    return false;
}

bool transport_accept(void) {
    at_end = false;
    if (!transport_is_fastcgi()) {
        bool first = !served;
        served = true;
        time_left_ms = TRANSPORT_TIMEOUT_S * 1000;
        if (first) {
            signal(SIGPIPE, SIG_IGN); /* writing to a closed connection fails with EPIPE */
            watch_time();
        }
        return first;
    }
    bool accepted = accept_fastcgi();
    requests_left -= accepted;
    is_replying = !accepted;
    return accepted;
}

const char *transport_variable(const char *name) {
    return kind == FASTCGI ? FCGX_GetParam(name, fastcgi.envp) : getenv(name);
}

static ssize_t read_some(void *bytes, size_t n) {
    if (kind == FASTCGI)
        return FCGX_GetStr(bytes, n < INT_MAX ? (int)n : INT_MAX, fastcgi.in);
    ssize_t got;
    do
        got = read(STDIN_FILENO, bytes, n);
    while (got < 0 && errno == EINTR && !is_late);
    return got;
}

ssize_t transport_read(void *bytes, size_t n) {
    if (at_end)
        return 0;
    start_read();
    ssize_t got = read_some(bytes, n);
    end_read();
    time_left_ms += got > 0 ? got * 1000 / TRANSPORT_LEAST_RATE : 0;
    at_end = got == 0 || is_late;
    if (at_end || got < 0)
        stop_timer();
    return got;
}

bool transport_is_late(void) {
    return is_late;
}

void transport_drain(void) {
    static char dropped[16384]; /* static, so it is not cleared on each call */
    if (kind == CGI && !at_end && time_left_ms > DRAIN_MS) {
        time_left_ms = DRAIN_MS;
        stop_timer(); /* it was started for a later end */
    }
    while (transport_read(dropped, sizeof dropped) > 0)
        ;
    if (kind == CGI && is_late && shutdown(STDIN_FILENO, SHUT_RD) == 0)
        while (read(STDIN_FILENO, dropped, sizeof dropped) > 0)
            ;
}

static int write_fastcgi(const struct slice *pieces, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (struct slice rest = pieces[i]; rest.n;) {
            int n = rest.n < INT_MAX ? (int)rest.n : INT_MAX;
            if (FCGX_PutStr(rest.p, n, fastcgi.out) != n)
                return -1;
            rest = slice_skip(rest, (size_t)n);
        }
    return 0;
}

static int write_cgi(const struct slice *pieces, size_t count) {
    struct iovec parts[MAX_PIECES];
    size_t n = 0;
    for (size_t i = 0; i < count && n < MAX_PIECES; i++)
        if (pieces[i].n)
            parts[n++] = (struct iovec){(void *)(size_t)pieces[i].p, pieces[i].n};
    for (struct iovec *next = parts; n;) {
        ssize_t wrote = writev(STDOUT_FILENO, next, (int)n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -1;
        while (n && (size_t)wrote >= next->iov_len)
            wrote -= (ssize_t)next->iov_len, next++, n--;
        if (n) {
            next->iov_base = (char *)next->iov_base + wrote;
            next->iov_len -= (size_t)wrote;
        }
    }
    return 0;
}

int transport_write(const struct slice *pieces, size_t count) {
    is_replying = true;
    return kind == FASTCGI ? write_fastcgi(pieces, count) : write_cgi(pieces, count);
}

/* Writes a record of the FastCGI protocol (FastCGI 1.0, 3.3); `n` is at most 65,535 bytes. */
static void write_record(unsigned char type, const void *content, size_t n) {
    unsigned id = (unsigned)fastcgi.requestId;
    const unsigned char header[8] = {1,
                                     type,
                                     (unsigned char)(id >> 8),
                                     (unsigned char)id,
                                     (unsigned char)(n >> 8),
                                     (unsigned char)n};
    write_all(fastcgi.ipcFd, (struct slice){(const char *)header, sizeof header});
    write_all(fastcgi.ipcFd, (struct slice){content, n});
}

/* Reads and drops input until the web server closes the connection. If this process closed it first
 * with unread input, the web server could lose the answer. */
static void wait_for_hangup(int connection) {
    enum { TIMEOUT_MS = 2000 };
    static char dropped[16384];
    struct pollfd wanted = {.fd = connection, .events = POLLIN};
    shutdown(connection, SHUT_WR);
    while (poll(&wanted, 1, TIMEOUT_MS) > 0 && read(connection, dropped, sizeof dropped) > 0)
        ;
}

/* Writes to the connection directly, because libfcgi's buffers may be corrupt. A web server that
 * keeps the connection could send the next request on it after the end of the request and before
 * the shutdown, and would answer it 503. So the shutdown alone ends the request then. */
void transport_write_last(struct slice head, struct slice body) {
    enum { END_REQUEST = 3, OUTPUT = 6 };
    static const char completed[8];
    if (is_replying || kind == UNKNOWN)
        return;
    is_replying = true;
    if (kind == FASTCGI) {
        write_record(OUTPUT, head.p, head.n);
        write_record(OUTPUT, body.p, body.n);
        write_record(OUTPUT, NULL, 0);
        if (!keep_asked)
            write_record(END_REQUEST, completed, sizeof completed);
        wait_for_hangup(fastcgi.ipcFd);
        return;
    }
    transport_drain();
    write_all(STDOUT_FILENO, head);
    write_all(STDOUT_FILENO, body);
}

void transport_finish(void) {
    is_replying = true;
    if (kind != FASTCGI)
        return;
    fastcgi.keepConnection = next_connection_may_be_kept() && keep_asked && at_end && !is_late;
    /* Without FCGX_Detach, libfcgi waits until the web server closes the connection. That is needed
     * only with unread input, when a close by this process could lose the answer. */
    if (at_end && !fastcgi.keepConnection)
        FCGX_Detach(&fastcgi);
    FCGX_Finish_r(&fastcgi);
    fastcgi.keepConnection = 0;
}

void transport_stop(void) {
    is_stopped = true;
}
