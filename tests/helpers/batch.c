/* batch: sends many request bodies to a program, one after the other, for tests/helpers/batch.bash.
 *
 *     batch [--cgi] DIRECTORY PROGRAM
 *
 * Sends each of the files 1.in, 2.in, ... of DIRECTORY with the variables of the environment and
 * CONTENT_LENGTH: to one process of PROGRAM, a FastCGI responder, because most programs take longer
 * to start than to answer; with --cgi, each file to a process of its own (RFC 3875). Writes the
 * header lines of the answer (RFC 3875 6) to NUMBER.head, its body to NUMBER.out and its status to
 * NUMBER.status: 500 when the answer has no header, 200 when it has no Status header. When the
 * process ends before its answer is complete, another one gets the file; without its answer the
 * status is 500. Exit status: 1 when a file cannot be read or written.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"
#include "fastcgi.h"

enum { BEGIN_REQUEST = 1, END_REQUEST = 3, PARAMS = 4, STDIN = 5, STDOUT = 6 }; /* FastCGI 1.0 */
enum { RECORD = 65535 };

extern char **environ;

static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
static pid_t responder; /* 0: none runs */

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

/* Whether a variable belongs to the environment of a FastCGI process, not to the request. */
static int is_of_process(const char *pair) {
    static const char *const prefixes[] = {"PATH=", "SWITCHBOARD_", "ASAN_", "UBSAN_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(pair, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return 0;
}

/* Starts the FastCGI process, which listens at the socket. */
static void start_responder(const char *program) {
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(address.sun_path);
    if (listener < 0 || bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0 || (responder = fork()) < 0)
        die("socket");
    if (responder == 0) {
        char *environment[16] = {NULL};
        size_t n = 0;
        for (char **pair = environ; *pair; pair++)
            if (is_of_process(*pair) && n < sizeof environment / sizeof *environment - 1)
                environment[n++] = *pair;
        dup2(listener, STDIN_FILENO);
        execle(program, program, (char *)NULL, environment);
        _exit(127);
    }
    close(listener);
}

static void end_responder(void) {
    if (responder == 0)
        return;
    kill(responder, SIGTERM);
    while (waitpid(responder, NULL, 0) != responder)
        ;
    responder = 0;
}

/* Sends the bytes; stops when the program closes the connection, since it may have answered. */
static void send_all(int fd, const void *bytes, size_t n) {
    const char *p = bytes;
    for (ssize_t sent = 1; n && sent > 0; p += sent, n -= (size_t)sent)
        if ((sent = send(fd, p, n, MSG_NOSIGNAL)) < 0)
            return;
}

/* Sends the content in records, and the empty record that ends the stream. */
static void send_stream(int fd, unsigned char type, const char *p, size_t n) {
    size_t size = 1;
    for (; size; p += size, n -= size) {
        size = n < RECORD ? n : RECORD;
        const unsigned char header[8] = {
            1, type, 0, 1, (unsigned char)(size >> 8), (unsigned char)size};
        send_all(fd, header, sizeof header);
        send_all(fd, p, size);
    }
}

static void send_request(int fd, const char *body, size_t size) {
    static const unsigned char begin[16] = {1, BEGIN_REQUEST, 0, 1, 0, 8, 0, 0, 0, 1};
    static char pairs[60000];
    size_t n = 0;
    for (char **pair = environ; *pair; pair++) {
        if (is_of_process(*pair))
            continue;
        if (n + strlen(*pair) + 8 > sizeof pairs)
            die("too many variables");
        n += put_pair(pairs + n, *pair);
    }
    send_all(fd, begin, sizeof begin);
    send_stream(fd, PARAMS, pairs, n);
    send_stream(fd, STDIN, body, size);
}

static size_t receive(int fd, void *bytes, size_t n) {
    size_t got = 0;
    for (ssize_t more = 1; got < n && more > 0; got += more > 0 ? (size_t)more : 0)
        more = read(fd, (char *)bytes + got, n - got);
    return got;
}

/* Writes the content of FCGI_STDOUT to the file `answer`. Returns whether the answer is complete;
 * otherwise the file is empty. */
static int receive_answer(int fd, const char *answer) {
    static unsigned char header[8], content[RECORD + 255];
    int file = open_to_write(answer), is_complete = 0;
    while (!is_complete && receive(fd, header, sizeof header) == sizeof header) {
        size_t n = (size_t)header[4] << 8 | header[5];
        if (receive(fd, content, n + header[6]) != n + header[6])
            break;
        if (header[1] == STDOUT && write(file, content, n) != (ssize_t)n)
            die(answer);
        is_complete = header[1] == END_REQUEST;
    }
    if (!is_complete && ftruncate(file, 0) != 0)
        die(answer);
    close(file);
    return is_complete;
}

/* Sends a body to the FastCGI process, and starts it if none runs; writes its answer to the file
 * `answer`. Returns whether the answer is complete; otherwise ends the process. */
static int exchange(const char *program, const char *body, size_t n, const char *answer) {
    if (responder == 0)
        start_responder(program);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("socket");
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        send_request(fd, body, n);
    int is_complete = receive_answer(fd, answer);
    close(fd);
    if (!is_complete)
        end_responder();
    return is_complete;
}

/* Sends the file `in`; writes the answer to the file `answer`. Without a complete answer sends it
 * to a new process, because the previous body may have ended the old one after its answer. */
static void ask(const char *program, const char *in, const char *answer) {
    size_t n;
    char *body = read_file(in, &n);
    int is_new = responder == 0;
    if (!exchange(program, body, n, answer) && !is_new)
        exchange(program, body, n, answer);
    free(body);
}

int main(int argc, char **argv) {
    char in[64], path[64], length[64], status[4];
    int is_cgi = argc > 1 && strcmp(argv[1], "--cgi") == 0;
    if (argc != 3 + is_cgi) {
        fputs("usage: batch [--cgi] DIRECTORY PROGRAM\n", stderr);
        return 2;
    }
    char *program = realpath(argv[2 + is_cgi], NULL);
    if (!program || chdir(argv[1 + is_cgi]) != 0)
        die(argv[2 + is_cgi]);
    for (int number = 1;; number++) {
        struct stat about;
        size_t n, size;
        snprintf(in, sizeof in, "%d.in", number);
        int body = open(in, O_RDONLY | O_CLOEXEC);
        if (body < 0 || fstat(body, &about) != 0)
            break;
        snprintf(length, sizeof length, "%lld", (long long)about.st_size);
        setenv("CONTENT_LENGTH", length, 1);
        if (is_cgi)
            run(program, body, "answer");
        else
            ask(program, in, "answer");
        close(body);
        char *answer = read_file("answer", &n);
        size_t at = split_answer(answer, n, status, NULL, &size);
        snprintf(path, sizeof path, "%d.head", number);
        write_file(path, answer, at);
        snprintf(path, sizeof path, "%d.out", number);
        write_file(path, answer + at, n - at);
        snprintf(path, sizeof path, "%d.status", number);
        write_file(path, status, 3);
        free(answer);
    }
    end_responder();
    free(program);
    return 0;
}
