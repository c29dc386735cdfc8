/* crowd: simulates many clients that send the bodies of their requests slowly.
 *
 *     crowd PORT COUNT RATE FILE
 *
 * Keeps COUNT connections to 127.0.0.1:PORT open. Each sends FILE, the head of a request, at once,
 * and then RATE bytes of a body each second. Replaces a connection that the server answers or ends.
 * Prints `ready` when all heads are sent, and after SIGTERM the number of connections made and the
 * number that the server answered or ended.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 2, MOST = 2000 }; /* pieces of a body per second; the maximum of connections */

static volatile sig_atomic_t is_over;
static char head[65536], piece[65536];
static size_t head_size, piece_size;
static struct pollfd clients[MOST];
static struct sockaddr_in server = {.sin_family = AF_INET};
static long made, ended;

static void on_signal(int number) {
    (void)number;
    is_over = 1;
}

static void die(const char *what) {
    fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void begin(struct pollfd *client) {
    client->events = POLLIN;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0 || connect(client->fd, (const struct sockaddr *)&server, sizeof server) != 0)
        die("connect");
    if (send(client->fd, head, head_size, MSG_NOSIGNAL) != (ssize_t)head_size)
        die("send");
    made++;
}

static void replace(struct pollfd *client) {
    close(client->fd);
    ended++;
    begin(client);
}

static void send_piece(struct pollfd *client) {
    if (send(client->fd, piece, piece_size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN)
        replace(client);
}

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void take_answers(nfds_t count, long long until) {
    for (long long left; !is_over && (left = until - now_ms()) > 0;)
        if (poll(clients, count, (int)left) > 0)
            for (nfds_t i = 0; i < count; i++)
                if (clients[i].revents)
                    replace(&clients[i]);
}

static void read_head(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file)
        die(path);
    head_size = fread(head, 1, sizeof head, file);
    fclose(file);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_signal};
    struct rlimit files = {MOST + 16, MOST + 16};
    if (argc != 5)
        return 2;
    nfds_t count = strtoul(argv[2], NULL, 10) % (MOST + 1);
    server.sin_port = htons((unsigned short)strtoul(argv[1], NULL, 10));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    piece_size = strtoul(argv[3], NULL, 10) / STEPS % sizeof piece;
    memset(piece, ' ', sizeof piece);
    read_head(argv[4]);
    setrlimit(RLIMIT_NOFILE, &files);
    sigaction(SIGTERM, &action, NULL);
    for (nfds_t i = 0; i < count; i++)
        begin(&clients[i]);
    puts("ready");
    fflush(stdout);
    for (long long next = now_ms(); !is_over;) {
        for (nfds_t i = 0; i < count; i++)
            send_piece(&clients[i]);
        take_answers(count, next += 1000 / STEPS);
    }
    printf("%ld connections, %ld ended by the server\n", made, ended);
    return 0;
}
