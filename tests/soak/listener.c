#include "listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "history.h"

enum { HEAD_MAX = 32 * 1024, BODY_MAX = 4 * 1024 * 1024 };

static answerer *answer_with;

void incoming_header(const struct incoming *request, const char *name, char *value, size_t size) {
    size_t length = strlen(name);
    *value = '\0';
    for (const char *line = strstr(request->head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        const char *at = line + 2 + length;
        if (strncasecmp(line + 2, name, length) != 0 || *at != ':')
            continue;
        at += 1 + strspn(at + 1, " ");
        snprintf(value, size, "%.*s", (int)strcspn(at, "\r"), at);
        return;
    }
}

static ssize_t receive(int fd, char *bytes, size_t n) {
    return recv(fd, bytes, n, 0);
}

/* Reads byte by byte, so that no byte of the body is read. */
static bool read_head(int fd, char *head) {
    for (size_t n = 0; n + 1 < HEAD_MAX; n++) {
        if (receive(fd, head + n, 1) != 1)
            return false;
        head[n + 1] = '\0';
        if (n >= 3 && strcmp(head + n - 3, "\r\n\r\n") == 0)
            return true;
    }
    return false;
}

static bool read_body(int fd, struct incoming *request, char **body) {
    char length[32];
    incoming_header(request, "Content-Length", length, sizeof length);
    size_t n = strtoul(length, NULL, 10);
    *body = n <= BODY_MAX ? malloc(n + 1) : NULL;
    if (!*body)
        return false;
    for (size_t got = 0; got < n;) {
        ssize_t part = receive(fd, *body + got, n - got);
        if (part <= 0)
            return false;
        got += (size_t)part;
    }
    request->body = (struct slice){*body, n};
    return true;
}

static bool reply(int fd, int status) {
    char text[128];
    struct linger now = {.l_onoff = 1};
    if (!status) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
    }
    int n = snprintf(text, sizeof text, "HTTP/1.1 %d Answer\r\nContent-Length: 0\r\n\r\n", status);
    return send(fd, text, (size_t)n, MSG_NOSIGNAL) == n;
}

static bool serve_request(int fd, char *head) {
    struct incoming request = {.head = head};
    char path[512] = "", *body = NULL;
    if (!read_head(fd, head))
        return false;
    sscanf(head, "%*s %511s", path);
    request.path = path;
    bool goes_on = read_body(fd, &request, &body) && reply(fd, answer_with(&request));
    free(body);
    return goes_on;
}

static void *serve(void *context) {
    int fd = (int)(long)context;
    char *head = malloc(HEAD_MAX);
    while (head && serve_request(fd, head))
        ;
    free(head);
    close(fd);
    return NULL;
}

static void *accept_all(void *context) {
    int listener = (int)(long)context;
    for (;;) {
        pthread_t thread;
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            continue;
        if (pthread_create(&thread, NULL, serve, (void *)(long)fd) != 0)
            give_up("thread");
        pthread_detach(thread);
    }
    return NULL;
}

int listener_start(answerer *answer) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    pthread_t thread;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    answer_with = answer;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 256) != 0 || getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        pthread_create(&thread, NULL, accept_all, (void *)(long)fd) != 0)
        give_up("listen");
    pthread_detach(thread);
    return ntohs(address.sin_port);
}
