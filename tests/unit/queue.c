/* lib/store/queue.h */
#include "store/queue.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { WRITERS = 8, TURNS = 200 };

static char database[256];

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A process that holds the place for some time, and says so first. */
static pid_t hold(unsigned milliseconds) {
    int ready[2];
    char word;
    check(pipe(ready) == 0, "pipe");
    pid_t pid = fork();
    if (pid == 0) {
        queue_enter(queue_open(database, 0600));
        if (write(ready[1], "!", 1) != 1)
            _exit(1);
        usleep(milliseconds * 1000);
        _exit(0); /* without leaving: the end of the process is enough */
    }
    check(read(ready[0], &word, 1) == 1, "the place is held");
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void check_wait(void) {
    int queue = queue_open(database, 0600);
    pid_t pid = hold(300);
    long long began = now_ms();
    queue_enter(queue);
    long long took = now_ms() - began;
    check(took >= 200 && took < 1500, "the next one goes when the holder ends, after %lld ms",
          took);
    queue_leave(queue);
    waitpid(pid, NULL, 0);
    close(queue);
}

static void check_patience(void) {
    int queue = queue_open(database, 0600);
    pid_t pid = hold(60000);
    long long began = now_ms();
    queue_enter(queue);
    long long took = now_ms() - began;
    check(took >= 1900 && took < 6000, "nobody waits for ever: %lld ms", took);
    queue_leave(queue); /* it was never its turn */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    began = now_ms();
    queue_enter(queue);
    check(now_ms() - began < 1000, "a killed holder has let go");
    queue_leave(queue);
    close(queue);
}

/* Many at once: between enter and leave nobody else. */
static void check_turns(void) {
    volatile long *count =
        mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            int queue = queue_open(database, 0600);
            for (int turn = 0; turn < TURNS; turn++) {
                queue_enter(queue);
                long seen = *count;
                if (turn % 16 == 0)
                    usleep(50);
                *count = seen + 1;
                queue_leave(queue);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    check(*count == (long)WRITERS * TURNS, "%ld turns", *count);
}

int main(void) {
    char directory[] = "/tmp/switchboard-queue-XXXXXX", path[300];
    struct stat made;
    if (!mkdtemp(directory))
        return 1;
    snprintf(database, sizeof database, "%s/d", directory);
    snprintf(path, sizeof path, "%s.queue", database);
    umask(077);
    close(queue_open(database, 0100660));
    check(stat(path, &made) == 0 && (made.st_mode & 07777) == 0660, "the database's mode");
    check_wait();
    check_patience();
    check_turns();
    check(queue_open("/nowhere/d", 0600) == -1, "no directory, no queue");
    queue_enter(-1);
    queue_leave(-1);
    unlink(path);
    rmdir(directory);
    return check_failures();
}
