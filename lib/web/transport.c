#include "web/transport.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_PIECES = 8 };

static enum { UNKNOWN, CGI, FASTCGI } kind;
static FCGX_Request fastcgi;
static bool served; /* the one request of a CGI */
static bool at_end; /* of the current request's body */
static long requests_left = -1;
static int executable = -1; /* the file that this process runs */
static bool is_answering; /* bytes of an answer were written, or there is no request */

static void on_terminate(int signal) {
    (void)signal;
    FCGX_ShutdownPending();
}

/* A FastCGI process ends after its current request on SIGTERM, after SWITCHBOARD_MAX_REQUESTS
 * requests, and when its executable was replaced; whoever started it starts the next. */
static void start_fastcgi(void) {
    struct sigaction action = {.sa_handler = on_terminate}; /* no SA_RESTART: accept must wake */
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    const char *limit = getenv("SWITCHBOARD_MAX_REQUESTS");
    requests_left = limit && *limit ? strtol(limit, NULL, 10) : 0;
    if (requests_left <= 0)
        requests_left = LONG_MAX;
    executable = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    FCGX_Init();
    FCGX_InitRequest(&fastcgi, 0, FCGI_FAIL_ACCEPT_ON_INTR);
}

/* Whether the file this process runs was deleted or replaced: its last name is gone. */
static bool was_replaced(void) {
    struct stat now;
    return fstat(executable, &now) == 0 && now.st_nlink == 0;
}

bool transport_is_fastcgi(void) {
    if (kind == UNKNOWN) {
        kind = FCGX_IsCGI() ? CGI : FASTCGI;
        if (kind == FASTCGI)
            start_fastcgi();
    }
    return kind == FASTCGI;
}

bool transport_accept(void) {
    at_end = false;
    if (!transport_is_fastcgi()) {
        bool first = !served;
        served = true;
        if (first)
            signal(SIGPIPE, SIG_IGN); /* a client that left is an EPIPE, not a death */
        return first;
    }
    if (requests_left-- <= 0 || was_replaced())
        return false;
    bool accepted = FCGX_Accept_r(&fastcgi) >= 0;
    is_answering = !accepted;
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
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t transport_read(void *bytes, size_t n) {
    ssize_t got = at_end ? 0 : read_some(bytes, n);
    at_end = got == 0;
    return got;
}

void transport_drain(void) {
    static char dropped[16384]; /* static: nothing is to be cleared for nobody */
    while (transport_read(dropped, sizeof dropped) > 0)
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
    is_answering = true;
    return kind == FASTCGI ? write_fastcgi(pieces, count) : write_cgi(pieces, count);
}

static void write_raw(int fd, const void *bytes, size_t n) {
    const char *p = bytes;
    while (n) {
        ssize_t wrote = write(fd, p, n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return;
        p += wrote, n -= (size_t)wrote;
    }
}

/* A record of the FastCGI protocol (FastCGI 1.0, 3.3); at most 65,535 bytes of content. */
static void write_record(unsigned char type, const void *content, size_t n) {
    unsigned id = (unsigned)fastcgi.requestId;
    const unsigned char header[8] = {1,
                                     type,
                                     (unsigned char)(id >> 8),
                                     (unsigned char)id,
                                     (unsigned char)(n >> 8),
                                     (unsigned char)n};
    write_raw(fastcgi.ipcFd, header, sizeof header);
    write_raw(fastcgi.ipcFd, content, n);
}

/* Takes what the web server still sends until it has closed its end: it would lose the answer if we
 * closed ours with something of it unread. */
static void wait_for_hangup(int connection) {
    enum { PATIENCE_MS = 2000 };
    static char dropped[16384];
    struct pollfd wanted = {.fd = connection, .events = POLLIN};
    shutdown(connection, SHUT_WR);
    while (poll(&wanted, 1, PATIENCE_MS) > 0 && read(connection, dropped, sizeof dropped) > 0)
        ;
}

/* libfcgi's buffers may be broken, so its connection is written to directly. */
void transport_write_last(struct slice head, struct slice body) {
    enum { END_REQUEST = 3, OUTPUT = 6 };
    static const char completed[8];
    if (is_answering || kind == UNKNOWN)
        return;
    is_answering = true;
    if (kind == FASTCGI) {
        write_record(OUTPUT, head.p, head.n);
        write_record(OUTPUT, body.p, body.n);
        write_record(OUTPUT, NULL, 0);
        write_record(END_REQUEST, completed, sizeof completed);
        wait_for_hangup(fastcgi.ipcFd);
        return;
    }
    transport_drain();
    write_raw(STDOUT_FILENO, head.p, head.n);
    write_raw(STDOUT_FILENO, body.p, body.n);
}

void transport_finish(void) {
    is_answering = true;
    if (kind != FASTCGI)
        return;
    /* Else libfcgi waits until the web server has closed its end too: it may lose the answer when
     * we close ours with something of it unread. */
    if (at_end)
        FCGX_Detach(&fastcgi);
    FCGX_Finish_r(&fastcgi);
}

void transport_stop(void) {
    requests_left = 0;
}
