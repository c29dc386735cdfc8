/* http_request: sends one HTTP request, for tests/helpers/request.bash. It takes less time than
 * curl needs to start.
 *
 *     http_request DIRECTORY METHOD PORT PATH FILE [HEADER...]
 *
 * Sends the request to 127.0.0.1:PORT, with the content of FILE as its body (FILE empty: without a
 * body) and the header fields of curl 7.88 and HEADER. Writes the body of the answer to
 * DIRECTORY/body, its header lines to DIRECTORY/headers and its status to DIRECTORY/code: 000
 * without an answer. Exit status: 2, with nothing sent and nothing written, when the request is one
 * that only curl can send: it is chunked, its body is long or not a regular file, or curl handles
 * its PATH or a HEADER specially. Otherwise 0.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "answer.h"

enum { LONGEST = 65536, USAGE = 2 }; /* a body that fits into the buffers of the sockets */

struct text {
    char *p;
    size_t n, room;
};

struct reading {
    int fd, is_over;
    struct text got; /* what came and is not consumed */
};

static void append(struct text *text, const void *bytes, size_t n) {
    if (text->n + n >= text->room) {
        text->room = 2 * (text->n + n + 1);
        text->p = realloc(text->p, text->room);
        if (!text->p)
            die("realloc");
    }
    memcpy(text->p + text->n, bytes, n);
    text->n += n;
    text->p[text->n] = '\0';
}

static void append_text(struct text *text, const char *more) {
    append(text, more, strlen(more));
}

/* --- The request --- */

/* Returns whether the header field is one that curl sends unchanged and that changes nothing else.
 * "Name:" removes a field of curl. */
static int is_plain_header(const char *header) {
    static const char *const special[] = {
        "Transfer-Encoding", "Content-Length", "Connection", "Expect", "Upgrade", "Host", "TE"};
    size_t n = strcspn(header, ":;\r\n");
    if (n == 0 || header[n] != ':' || strpbrk(header, "\r\n"))
        return 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strlen(special[i]) == n && strncasecmp(header, special[i], n) == 0)
            return 0;
    return 1;
}

/* Returns whether one of the header fields has the name. */
static int is_given(const char *name, char **headers) {
    for (; *headers; headers++)
        if (strncasecmp(*headers, name, strlen(name)) == 0 && (*headers)[strlen(name)] == ':')
            return 1;
    return 0;
}

/* Returns whether curl would send the request as this program does. */
static int is_simple(const char *method, const char *path, const char *file, char **headers) {
    struct stat about;
    if (strcmp(method, "HEAD") == 0 || *path != '/')
        return 0;
    for (const char *p = path; *p; p++)
        if (*p <= ' ' || *p > '~' || *p == '#')
            return 0;
    for (; *headers; headers++)
        if (!is_plain_header(*headers))
            return 0;
    return !*file ||
           (stat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= LONGEST);
}

static struct text content_of(const char *file) {
    struct text content = {.p = NULL};
    char some[4096];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die(file);
    append_text(&content, "");
    for (ssize_t n; (n = read(fd, some, sizeof some)) > 0;)
        append(&content, some, (size_t)n);
    close(fd);
    return content;
}

static void append_default(struct text *request, const char *name, const char *value,
                           char **headers) {
    if (is_given(name, headers))
        return;
    append_text(request, name);
    append_text(request, ": ");
    append_text(request, value);
    append_text(request, "\r\n");
}

static struct text compose(const char *method, const char *port, const char *path, const char *file,
                           char **headers) {
    struct text request = {.p = NULL}, content = {.p = NULL};
    char length[32], host[32];
    snprintf(host, sizeof host, "127.0.0.1:%s", port);
    append_text(&request, method);
    append_text(&request, " ");
    append_text(&request, path);
    append_text(&request, " HTTP/1.1\r\n");
    append_default(&request, "Host", host, headers);
    append_default(&request, "User-Agent", "curl/7.88.1", headers);
    append_default(&request, "Accept", "*/*", headers);
    for (char **header = headers; *header; header++) {
        const char *value = strchr(*header, ':') + 1;
        if (!value[strspn(value, " \t")])
            continue;
        append_text(&request, *header);
        append_text(&request, "\r\n");
    }
    if (*file) {
        content = content_of(file);
        snprintf(length, sizeof length, "%zu", content.n);
        append_default(&request, "Content-Length", length, headers);
        append_default(&request, "Content-Type", "application/x-www-form-urlencoded", headers);
    }
    append_text(&request, "\r\n");
    if (*file)
        append(&request, content.p, content.n);
    free(content.p);
    return request;
}

/* --- The answer --- */

/* Reads more bytes; returns whether some came. */
static int read_more(struct reading *from) {
    char some[16384];
    ssize_t n = 0;
    if (!from->is_over)
        do
            n = read(from->fd, some, sizeof some);
        while (n < 0 && errno == EINTR);
    from->is_over = n <= 0;
    if (n > 0)
        append(&from->got, some, (size_t)n);
    return n > 0;
}

static void consume(struct reading *from, size_t n) {
    from->got.n -= n;
    memmove(from->got.p, from->got.p + n, from->got.n + 1);
}

/* Moves `n` bytes, or those that come, to `to`. */
static void take(struct reading *from, size_t n, struct text *to) {
    while (from->got.n < n && read_more(from))
        ;
    if (n > from->got.n)
        n = from->got.n;
    if (n == 0)
        return;
    append(to, from->got.p, n);
    consume(from, n);
}

/* Reads a line without its end, to be freed by the caller; NULL when the connection ends before. */
static char *take_line(struct reading *from) {
    char *end = NULL;
    while (!(from->got.n && (end = memchr(from->got.p, '\n', from->got.n))))
        if (!read_more(from))
            return NULL;
    size_t n = (size_t)(end - from->got.p);
    char *line = strndup(from->got.p, n);
    if (!line)
        die("strndup");
    consume(from, n + 1);
    if (*line && line[strlen(line) - 1] == '\r')
        line[strlen(line) - 1] = '\0';
    return line;
}

/* Reads the heads up to the last one. Sets `code` and `lines`; returns whether a head came. */
static int take_head(struct reading *from, char code[4], struct text *lines) {
    char *line;
    do {
        if (!(line = take_line(from)))
            return 0;
        if (strncmp(line, "HTTP/", 5) != 0 || strlen(line) < 12)
            return 0;
        memcpy(code, line + 9, 3);
        free(line);
        lines->n = 0;
        while ((line = take_line(from)) && *line) {
            append_text(lines, line);
            append_text(lines, "\n");
            free(line);
        }
        free(line);
    } while (*code == '1');
    return 1;
}

/* Returns the value of a header field in the lines, or NULL. */
static const char *value_of(const char *name, const struct text *lines) {
    size_t n = strlen(name);
    for (const char *line = lines->p; line && *line; line = strchr(line, '\n') + 1)
        if (strncasecmp(line, name, n) == 0 && line[n] == ':')
            return line + n + 1 + strspn(line + n + 1, " ");
    return NULL;
}

static void take_chunks(struct reading *from, struct text *body) {
    size_t n = 1;
    for (char *line; n && (line = take_line(from)); free(line)) {
        n = strtoul(line, NULL, 16);
        take(from, n, body);
        if (n)
            free(take_line(from));
    }
}

static void take_body(struct reading *from, const char *code, const struct text *lines,
                      struct text *body) {
    const char *coding = value_of("Transfer-Encoding", lines);
    const char *length = value_of("Content-Length", lines);
    if (strcmp(code, "204") == 0 || strcmp(code, "304") == 0)
        return;
    if (coding && strncasecmp(coding, "chunked", 7) == 0)
        take_chunks(from, body);
    else
        take(from, length ? strtoul(length, NULL, 10) : (size_t)-1, body);
}

/* Connects and sends the request; returns the socket, or -1. An answer may come although the server
 * did not read all of the request. */
static int send_request(const char *port, const struct text *request) {
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval limit = {.tv_sec = 600};
    server.sin_port = htons((in_port_t)strtoul(port, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *)&server, sizeof server) != 0)
        return -1;
    const char *p = request->p;
    for (size_t n = request->n; n;) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            break;
        p += sent > 0 ? sent : 0, n -= sent > 0 ? (size_t)sent : 0;
    }
    return fd;
}

int main(int argc, char **argv) {
    struct text lines = {.p = NULL}, body = {.p = NULL};
    char code[4] = "000";
    if (argc < 6 || !is_simple(argv[2], argv[4], argv[5], argv + 6))
        return USAGE;
    struct text request = compose(argv[2], argv[3], argv[4], argv[5], argv + 6);
    struct reading from = {.fd = send_request(argv[3], &request)};
    append_text(&lines, "");
    append_text(&body, "");
    if (from.fd >= 0 && take_head(&from, code, &lines))
        take_body(&from, code, &lines, &body);
    if (chdir(argv[1]) != 0)
        die(argv[1]);
    write_file("headers", lines.p, lines.n);
    write_file("body", body.p, body.n);
    write_file("code", code, 3);
    free(request.p);
    free(from.got.p);
    free(lines.p);
    free(body.p);
    return 0;
}
