/* batch: runs a CGI on many request bodies, one after the other, for tests/helpers/batch.bash.
 *
 *     batch DIRECTORY PROGRAM
 *
 * Runs PROGRAM with its own environment and CONTENT_LENGTH for each of the files 1.in, 2.in, ... of
 * DIRECTORY. Writes the body of the answer (RFC 3875 6) to NUMBER.out and its status to
 * NUMBER.status: 500 when the answer has no header, 200 when it has no Status header. Exit status:
 * 1 when a file cannot be read or written.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int open_to_write(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        die(path);
    return fd;
}

static void write_file(const char *path, const char *bytes, size_t n) {
    int fd = open_to_write(path);
    for (ssize_t wrote; n; bytes += wrote, n -= (size_t)wrote)
        if ((wrote = write(fd, bytes, n)) <= 0)
            die(path);
    close(fd);
}

/* Returns the content of a file, to be freed by the caller, and its size in *n. */
static char *read_file(const char *path, size_t *n) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0)
        die(path);
    char *bytes = malloc((size_t)about.st_size + 1);
    *n = 0;
    for (ssize_t got = 1; bytes && got > 0; *n += (size_t)(got > 0 ? got : 0))
        got = read(fd, bytes + *n, (size_t)about.st_size - *n);
    close(fd);
    if (!bytes)
        die(path);
    return bytes;
}

/* Runs the program with the descriptor `body` as standard input; writes its output to the file
 * `answer`. */
static void run(const char *program, int body, const char *answer) {
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        dup2(body, STDIN_FILENO);
        dup2(open_to_write(answer), STDOUT_FILENO);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, NULL, 0) != child)
        ;
}

/* Sets `status` to the three digits of the answer's status; returns the offset of its body. */
static size_t split(const char *bytes, size_t n, char status[4]) {
    size_t at = 0;
    int has_header = 0, has_status = 0;
    while (at < n) {
        const char *line = bytes + at, *end = memchr(line, '\n', n - at);
        size_t length = end ? (size_t)(end - line) : n - at;
        at += length + (end != NULL);
        length -= length && line[length - 1] == '\r';
        if (length == 0 || !end)
            break;
        if (length >= 11 && strncasecmp(line, "Status: ", 8) == 0)
            memcpy(status, line + 8, 3), has_status = 1;
        else
            has_header = 1;
    }
    if (!has_header || !has_status)
        memcpy(status, has_header ? "200" : "500", 3);
    return at;
}

int main(int argc, char **argv) {
    char path[4096], length[64], status[4] = {0};
    if (argc != 3) {
        fputs("usage: batch DIRECTORY PROGRAM\n", stderr);
        return 2;
    }
    for (int number = 1;; number++) {
        struct stat about;
        size_t n;
        snprintf(path, sizeof path, "%s/%d.in", argv[1], number);
        int body = open(path, O_RDONLY | O_CLOEXEC);
        if (body < 0 || fstat(body, &about) != 0)
            break;
        snprintf(length, sizeof length, "%lld", (long long)about.st_size);
        setenv("CONTENT_LENGTH", length, 1);
        snprintf(path, sizeof path, "%s/answer", argv[1]);
        run(argv[2], body, path);
        close(body);
        char *answer = read_file(path, &n);
        size_t at = split(answer, n, status);
        snprintf(path, sizeof path, "%s/%d.out", argv[1], number);
        write_file(path, answer + at, n - at);
        snprintf(path, sizeof path, "%s/%d.status", argv[1], number);
        write_file(path, status, 3);
        free(answer);
    }
    return 0;
}
