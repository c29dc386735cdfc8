/* Files, and the answer of a CGI, for the programs that send requests. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static inline void die(const char *what) {
    perror(what);
    exit(1);
}

static inline int open_to_write(const char *name) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        die(name);
    return fd;
}

static inline void write_file(const char *name, const char *bytes, size_t n) {
    int fd = open_to_write(name);
    for (ssize_t wrote; n; bytes += wrote, n -= (size_t)wrote)
        if ((wrote = write(fd, bytes, n)) <= 0)
            die(name);
    close(fd);
}

/* Sets `code` to the digits of the status of the answer of a CGI (RFC 3875 6.3.3): 500 without a
 * header, 200 without a Status. Sets *size to the length of the other header lines, and writes them
 * to `head`, which has room for n + 1 bytes; NULL: does not. Returns the offset of the body. */
static inline size_t split_answer(const char *bytes, size_t n, char code[4], char *head,
                                  size_t *size) {
    size_t at = 0;
    *code = '\0';
    *size = 0;
    while (at < n) {
        const char *line = bytes + at, *end = memchr(line, '\n', n - at);
        size_t length = end ? (size_t)(end - line) : n - at;
        at += length + (end != NULL);
        length -= length && line[length - 1] == '\r';
        if (length == 0 || !end)
            break;
        if (length >= 10 && strncasecmp(line, "status:", 7) == 0) {
            snprintf(code, 4, "%.3s", line + 7 + (line[7] == ' '));
            continue;
        }
        if (head) {
            memcpy(head + *size, line, length);
            head[*size + length] = '\n';
        }
        *size += length + 1;
    }
    if (*size == 0 || !*code)
        memcpy(code, *size ? "200" : "500", 4);
    return at;
}
