/* cgi_request: runs a program as a CGI does (RFC 3875), for tests/helpers/request.bash.
 *
 *     cgi_request DIRECTORY PROGRAM FILE COUNT VARIABLE... [ARGUMENT...]
 *
 * Runs PROGRAM with the ARGUMENTs and with the COUNT VARIABLEs, NAME=VALUE, as its environment; its
 * standard input is a pipe with the content of FILE (FILE empty: with nothing). Writes the body of
 * the answer to DIRECTORY/body, its header lines except Status to DIRECTORY/headers and its status
 * to DIRECTORY/code: 500 without a header, 200 without a Status. Exit status: 1 when a file cannot
 * be read or written, otherwise 0, also when the program fails.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"

/* Starts the program; returns the end of the pipe to its standard input. */
static int start(const char *program, char **arguments, char **variables, int answer,
                 pid_t *child) {
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, answer, STDOUT_FILENO) != 0)
        die("pipe");
    if (posix_spawn(child, program, &actions, NULL, arguments, variables) != 0)
        die(program);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    return ends[1];
}

/* Copies the file to the pipe until its end, or until the program stops reading. */
static void feed(int to, const char *file) {
    static char some[65536];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die(file);
    for (ssize_t n, wrote = 1; wrote > 0 && (n = read(fd, some, sizeof some)) > 0;)
        for (char *p = some; n > 0 && (wrote = write(to, p, (size_t)n)) > 0; p += wrote)
            n -= wrote;
    close(fd);
}

/* Returns the program's output, to be freed by the caller, and its size in *n. */
static char *content_of(int fd, size_t *n) {
    struct stat about;
    char *bytes = fstat(fd, &about) == 0 ? malloc((size_t)about.st_size + 1) : NULL;
    if (!bytes)
        die("answer");
    *n = 0;
    for (ssize_t got; (got = pread(fd, bytes + *n, (size_t)about.st_size - *n, (off_t)*n)) > 0;)
        *n += (size_t)got;
    return bytes;
}

/* Writes headers, body and code from the output. */
static void write_answer(const char *bytes, size_t n) {
    char code[4], *head = malloc(n + 1);
    size_t size;
    if (!head)
        die("malloc");
    size_t at = split_answer(bytes, n, code, head, &size);
    write_file("headers", head, size);
    write_file("body", bytes + at, n - at);
    write_file("code", code, strlen(code));
    free(head);
}

int main(int argc, char **argv) {
    long count = argc > 4 ? strtol(argv[4], NULL, 10) : -1;
    pid_t child;
    size_t n;
    if (count < 0 || argc - 5 < count) {
        fputs("usage: cgi_request DIRECTORY PROGRAM FILE COUNT VARIABLE... [ARGUMENT...]\n",
              stderr);
        return 2;
    }
    char **variables = calloc((size_t)count + 1, sizeof *variables);
    if (!variables)
        die("calloc");
    memcpy(variables, argv + 5, (size_t)count * sizeof *variables);
    argv[4 + count] = argv[2]; /* the program's name precedes its arguments */
    int directory = open(argv[1], O_DIRECTORY | O_CLOEXEC);
    int answer = openat(directory, "answer", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (answer < 0)
        die(argv[1]);
    int to = start(argv[2], argv + 4 + count, variables, answer, &child);
    signal(SIGPIPE, SIG_IGN);
    if (*argv[3])
        feed(to, argv[3]);
    close(to);
    while (waitpid(child, NULL, 0) != child)
        ;
    char *bytes = content_of(answer, &n);
    if (fchdir(directory) != 0)
        die(argv[1]);
    write_answer(bytes, n);
    free(bytes), free(variables);
    return 0;
}
