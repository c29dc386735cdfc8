/* ask: sends one request to an executable, without a web server.
 *
 *     ask [--fastcgi] PROGRAM NAME=VALUE...
 *
 * Runs PROGRAM as a CGI (RFC 3875) or as a FastCGI responder on a unix socket, with these variables
 * and no body. Variables named SWITCHBOARD_... are in the environment of a FastCGI responder, not
 * among its parameters. Prints the answer. Meanwhile a datagram socket is bound to an abstract
 * address, whose name is in HTTP_X_PROBE_SOCKET.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastcgi.h"

enum { MOST_SETTINGS = 8 };
enum { BEGIN_REQUEST = 1, END_REQUEST = 3, PARAMS = 4, STDIN = 5, STDOUT = 6 };

static void die(const char *what) {
    fprintf(stderr, "ask: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Returns a unix socket bound to the `n` bytes of `name`, which begins with NUL for an abstract
 * address. */
static int make_socket(int type, const char *name, size_t n) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, name, n);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address,
                       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) != 0)
        die("socket");
    return fd;
}

static void write_all(int fd, const void *bytes, size_t n) {
    for (const char *p = bytes; n;) {
        ssize_t wrote = write(fd, p, n);
        if (wrote <= 0)
            die("write");
        p += wrote, n -= (size_t)wrote;
    }
}

static size_t read_all(int fd, void *bytes, size_t n) {
    size_t got = 0;
    for (ssize_t more = 1; got < n && more > 0; got += more > 0 ? (size_t)more : 0)
        more = read(fd, (char *)bytes + got, n - got);
    return got;
}

static void write_record(int fd, unsigned char type, const void *content, size_t n) {
    const unsigned char header[8] = {
        1, type, 0, 1, (unsigned char)(n >> 8), (unsigned char)n,
    };
    write_all(fd, header, sizeof header);
    write_all(fd, content, n);
}

static int is_setting(const char *pair) {
    return strncmp(pair, "SWITCHBOARD_", 12) == 0;
}

static void send_request(int fd, char **variables) {
    static const unsigned char responder[8] = {0, 1};
    static char pairs[60000];
    size_t n = 0;
    for (char **pair = variables; *pair; pair++) {
        if (is_setting(*pair))
            continue;
        if (n + strlen(*pair) + 8 > sizeof pairs)
            die("too many variables");
        n += put_pair(pairs + n, *pair);
    }
    write_record(fd, BEGIN_REQUEST, responder, sizeof responder);
    write_record(fd, PARAMS, pairs, n);
    write_record(fd, PARAMS, "", 0);
    write_record(fd, STDIN, "", 0);
}

/* Prints the answer; returns false if the connection ended before FCGI_END_REQUEST. */
static int print_answer(int fd) {
    unsigned char header[8];
    static char content[65535 + 255];
    while (read_all(fd, header, sizeof header) == sizeof header) {
        size_t n = (size_t)header[4] << 8 | header[5], padding = header[6];
        if (read_all(fd, content, n + padding) != n + padding)
            return 0;
        if (header[1] == STDOUT)
            fwrite(content, 1, n, stdout);
        if (header[1] == END_REQUEST)
            return 1;
    }
    return 0;
}

static int ask_fastcgi(const char *program, char **variables) {
    char directory[] = "/tmp/switchboard-ask-XXXXXX", path[64];
    if (!mkdtemp(directory))
        die("mkdtemp");
    snprintf(path, sizeof path, "%s/s", directory);
    int listener = make_socket(SOCK_STREAM, path, strlen(path) + 1);
    if (listen(listener, 1) != 0)
        die("listen");
    pid_t child = fork();
    if (child == 0) {
        char *environment[MOST_SETTINGS + 1] = {NULL};
        size_t settings = 0;
        for (char **pair = variables; *pair; pair++)
            if (is_setting(*pair) && settings < MOST_SETTINGS)
                environment[settings++] = *pair;
        dup2(listener, STDIN_FILENO);
        execle(program, program, (char *)NULL, environment);
        _exit(127);
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), status;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    close(listener);
    unlink(path);
    rmdir(directory);
    send_request(fd, variables);
    int is_whole = print_answer(fd);
    close(fd); /* libfcgi waits until the peer closes the connection */
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    return is_whole ? 0 : 1;
}

static int ask_cgi(const char *program, char **variables) {
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        if (!freopen("/dev/null", "r", stdin))
            die("/dev/null");
        execle(program, program, (char *)NULL, variables);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
    int is_fastcgi = argc > 1 && strcmp(argv[1], "--fastcgi") == 0, first = is_fastcgi ? 2 : 1;
    char name[64] = {0}, pair[128];
    char **variables = calloc((size_t)argc + 4, sizeof *variables);
    if (argc <= first || !variables) {
        fputs("usage: ask [--fastcgi] PROGRAM NAME=VALUE...\n", stderr);
        return 2;
    }
    int n = snprintf(name + 1, sizeof name - 1, "switchboard-ask-%ld", (long)getpid());
    make_socket(SOCK_DGRAM, name, (size_t)n + 1);
    snprintf(pair, sizeof pair, "HTTP_X_PROBE_SOCKET=%s", name + 1);
    size_t count = 0;
    variables[count++] = (char[]){"GATEWAY_INTERFACE=CGI/1.1"};
    variables[count++] = pair;
    for (int i = first + 1; i < argc; i++)
        if (strchr(argv[i], '='))
            variables[count++] = argv[i];
    int status = is_fastcgi ? ask_fastcgi(argv[first], variables) : ask_cgi(argv[first], variables);
    free(variables);
    return status;
}
