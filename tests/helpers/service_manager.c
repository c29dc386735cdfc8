/* service_manager: runs a service with a socket, as systemd does (sd_listen_fds(3), sd_notify(3)).
 *
 *     service_manager SOCKET COUNT_FILE PROGRAM [ARGUMENT...]
 *
 * Listens on SOCKET and starts PROGRAM with it. SIGHUP restarts the program: SIGTERM, and when it
 * has ended, a start with the socket and the descriptors that it has stored (FDSTORE=1), whose
 * number is written to COUNT_FILE. SIGTERM ends program and manager.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process/descriptor.h"

enum { FIRST = 3, ROOM = 200, MOST = 150 };

static volatile sig_atomic_t restarts, ends;
static int kept[MOST];
static int kept_count;

static void on_signal(int number) {
    restarts |= number == SIGHUP;
    ends |= number != SIGHUP;
}

static _Noreturn void die(const char *what) {
    fprintf(stderr, "service_manager: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* A high number, so that the program's numbers from FIRST on are free. */
static int lift(int fd) {
    int high = fcntl(fd, F_DUPFD_CLOEXEC, ROOM);
    if (high < 0)
        die("fcntl");
    close(fd);
    return high;
}

static int open_socket(int type, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        die(path);
    memcpy(address.sun_path, path, strlen(path));
    unlink(path);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        die(path);
    return lift(fd);
}

/* Becomes the program. The socket is the first of its descriptors, or the last. */
static _Noreturn void run(int listener, char **program, int is_last) {
    char number[16], names[MOST * 11 + 8] = "";
    size_t n = 0;
    int at = FIRST;
    if (!is_last) {
        dup2(listener, at++);
        n += (size_t)snprintf(names + n, sizeof names - n, "socket");
    }
    for (int i = 0; i < kept_count; i++) {
        dup2(kept[i], at++);
        n += (size_t)snprintf(names + n, sizeof names - n, "%sconnection", n ? ":" : "");
    }
    if (is_last) {
        dup2(listener, at++);
        snprintf(names + n, sizeof names - n, "%ssocket", n ? ":" : "");
    }
    snprintf(number, sizeof number, "%ld", (long)getpid());
    setenv("LISTEN_PID", number, 1);
    snprintf(number, sizeof number, "%d", at - FIRST);
    setenv("LISTEN_FDS", number, 1);
    setenv("LISTEN_FDNAMES", names, 1);
    execv(program[0], program);
    die(program[0]);
}

static void write_count(const char *file_name) {
    FILE *file = fopen(file_name, "we");
    if (!file)
        die(file_name);
    fprintf(file, "%d\n", kept_count);
    fclose(file);
}

/* Takes the messages of the program: descriptors are stored until it has them removed. */
static void take_messages(int store) {
    char text[64];
    for (ssize_t n; (n = recv(store, text, sizeof text, MSG_PEEK | MSG_DONTWAIT)) > 0;) {
        int fd = descriptor_receive(store, MSG_DONTWAIT);
        if (fd < 0)
            while (kept_count)
                close(kept[--kept_count]);
        else if (kept_count == MOST ||
                 strncmp(text, "FDSTORE=1\nFDNAME=connection", (size_t)n) != 0)
            die("a descriptor that cannot be stored");
        else
            kept[kept_count++] = lift(fd);
    }
}

/* Ends the program and takes what it stores meanwhile. */
static void stop(pid_t pid, int store) {
    kill(pid, SIGTERM);
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        take_messages(store);
        usleep(1000);
    }
    take_messages(store);
}

int main(int argc, char **argv) {
    const struct sigaction action = {.sa_handler = on_signal};
    char notify[sizeof((struct sockaddr_un *)NULL)->sun_path];
    if (argc < 4)
        return 2;
    snprintf(notify, sizeof notify, "%s.notify", argv[1]);
    int listener = open_socket(SOCK_STREAM, argv[1]), store = open_socket(SOCK_DGRAM, notify);
    if (listen(listener, 1024) != 0 || setenv("NOTIFY_SOCKET", notify, 1) != 0)
        die(argv[1]);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (int turn = 0; !ends; turn++) {
        write_count(argv[2]);
        restarts = 0;
        pid_t pid = fork();
        if (pid == 0)
            run(listener, argv + 3, turn % 2);
        while (!restarts && !ends) {
            take_messages(store);
            usleep(5000);
        }
        stop(pid, store);
    }
    unlink(argv[1]);
    unlink(notify);
    return 0;
}
