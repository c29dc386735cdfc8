#include "platform_probe.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 5 };

struct peer {
    const char *host, *port;
};

/* The peer of a URL that the configuration has accepted: `scheme://host[:port][/path]`, where an
 * IPv6 address is in brackets (RFC 3986 3.2). */
static struct peer read_url(struct arena *arena, const char *url) {
    struct slice rest = slice_of(strstr(url, "://") + 3);
    const char *usual_port = strncasecmp(url, "https:", 6) == 0 ? "443" : "80";
    struct slice port = slice_cut(&rest, '/');
    bool is_literal = slice_starts(port, SLICE("["));
    struct slice host = slice_cut(&port, is_literal ? ']' : ':');
    if (is_literal)
        host = slice_skip(host, 1), port = slice_skip(port, 1);
    return (struct peer){arena_copy(arena, host), port.n ? arena_copy(arena, port) : usual_port};
}

/* Tries every address of the host. Returns NULL, or the reason why the last one failed. */
static const char *try_connect(const struct peer *peer) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *addresses = NULL;
    int failed = getaddrinfo(peer->host, peer->port, &hints, &addresses);
    const char *reason = failed ? gai_strerror(failed) : "no address";
    for (struct addrinfo *a = addresses; a && reason; a = a->ai_next) {
        int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        reason = fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0 ? NULL : strerror(errno);
        if (fd >= 0)
            close(fd);
    }
    if (addresses)
        freeaddrinfo(addresses);
    return reason;
}

/* Connects and writes the failure to the pipe. Runs in a child process, because getaddrinfo has no
 * timeout: alarm(2) ends the process. */
static void run_child(int out, const struct peer *peer) {
    alarm(SECONDS);
    const char *reason = try_connect(peer);
    if (reason && write(out, reason, strlen(reason)) < 0)
        _exit(2);
    _exit(reason ? 1 : 0);
}

const char *platform_probe(struct arena *arena, const char *url, const char **peer_name) {
    struct peer peer = read_url(arena, url);
    int ends[2], status = 0;
    char reason[256];
    *peer_name =
        arena_printf(arena, strchr(peer.host, ':') ? "[%s]:%s" : "%s:%s", peer.host, peer.port);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0)
        return arena_copy(arena, slice_of(strerror(errno)));
    if (child == 0)
        run_child(ends[1], &peer);
    close(ends[1]);
    ssize_t n = read(ends[0], reason, sizeof reason);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return arena_printf(arena, "no connection within %d s", SECONDS);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    return n > 0 ? arena_copy(arena, (struct slice){reason, (size_t)n}) : "it could not be tried";
}
