/* account: runs a command, measures its CPU time, and ends it when it makes no progress.
 *
 *     account LIMIT PROGRESS RESULT COMMAND...
 *
 * Writes the CPU seconds of the command and of all its descendants to the file RESULT. This
 * includes daemons: a descendant whose parent has ended becomes a child of this process (prctl(2),
 * PR_SET_CHILD_SUBREAPER). PROGRESS is a file that the command extends; when its size has not
 * changed for LIMIT seconds, the command receives SIGTERM, and SIGKILL 20 seconds later. A command
 * that makes progress may take any time, so that tests do not fail on a slow machine. Exit status:
 * that of the command, 124 when it was ended.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t command;

static void pass_on(int number) {
    kill(command, number);
}

static long long seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Reaps the children that have ended. Returns whether the command is one of them, and then sets
 * *status to its wait status. */
static int reap(int *status) {
    int each, has_ended = 0;
    for (pid_t pid; (pid = waitpid(-1, &each, WNOHANG)) > 0;)
        if (pid == command)
            *status = each, has_ended = 1;
    return has_ended;
}

/* Waits for the command, and ends it when the size of `progress` does not change for `limit`
 * seconds; returns whether it ended the command. */
static int watch(long limit, const char *progress, int *status) {
    long long since = seconds_now(), deadline = limit;
    off_t size = -1;
    int is_ended = 0;
    struct timespec pause = {.tv_nsec = 50000000};
    struct stat file;
    while (!reap(status)) {
        nanosleep(&pause, NULL);
        if (!is_ended && stat(progress, &file) == 0 && file.st_size != size)
            size = file.st_size, since = seconds_now();
        if (seconds_now() - since < deadline)
            continue;
        kill(command, is_ended ? SIGKILL : SIGTERM);
        is_ended = 1, since = seconds_now(), deadline = 20;
    }
    return is_ended;
}

static void write_result(const char *path) {
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "%ld.%02ld\n",
            (long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec +
                   (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000000),
            (long)((used.ru_utime.tv_usec + used.ru_stime.tv_usec) % 1000000 / 10000));
    fclose(file);
}

int main(int argc, char **argv) {
    int status = 0;
    if (argc < 5) {
        fputs("usage: account LIMIT PROGRESS RESULT COMMAND...\n", stderr);
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    command = fork();
    if (command == 0) {
        execvp(argv[4], argv + 4);
        perror(argv[4]);
        _exit(127);
    }
    if (command < 0) {
        perror("account: fork");
        return 1;
    }
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    int was_ended = watch(strtol(argv[1], NULL, 10), argv[2], &status);
    write_result(argv[3]);
    return was_ended ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
