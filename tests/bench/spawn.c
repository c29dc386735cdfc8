/* Measures the cost of running a program, from fork to its end.
 *
 *     spawn COUNT PROGRAM...
 *
 * Runs the programs in turn, COUNT times each, with the caller's environment and without input;
 * their output is discarded. Prints a line for each: PROGRAM, the median and the 99th percentile of
 * the wall time, and the mean CPU time, all in microseconds.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct contender {
    char *program;
    double *wall;
    double cpu;
};

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double time_us(struct timeval time) {
    return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static int run(struct contender *contender, long round, const posix_spawn_file_actions_t *files) {
    char *arguments[] = {contender->program, NULL};
    struct rusage usage;
    pid_t pid;
    int status;
    double started = now_us();
    if (posix_spawn(&pid, contender->program, files, NULL, arguments, environ) != 0 ||
        wait4(pid, &status, 0, &usage) != pid || status != 0) {
        fprintf(stderr, "spawn: %s failed\n", contender->program);
        return -1;
    }
    contender->wall[round] = now_us() - started;
    contender->cpu += time_us(usage.ru_utime) + time_us(usage.ru_stime);
    return 0;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (count < 1 || count > 1000000) {
        fputs("usage: spawn COUNT PROGRAM...\n", stderr);
        return 2;
    }
    struct contender *contenders = calloc((size_t)argc, sizeof *contenders);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (int i = 2; i < argc; i++)
        contenders[i] = (struct contender){argv[i], calloc((size_t)count, sizeof(double)), 0};
    for (long round = 0; round < count; round++)
        for (int i = 2; i < argc; i++)
            if (run(&contenders[i], round, &files) != 0)
                return 1;
    for (int i = 2; i < argc; i++) {
        struct contender *done = &contenders[i];
        qsort(done->wall, (size_t)count, sizeof(double), compare);
        printf("%s %.0f %.0f %.0f\n", done->program, done->wall[count / 2],
               done->wall[count * 99 / 100], done->cpu / (double)count);
        free(done->wall);
    }
    free(contenders);
    posix_spawn_file_actions_destroy(&files);
    return 0;
}
