/* lib/engine/queue.h */
#include "engine/queue.h"

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
static struct stat database_file = {.st_mode = 0100660, .st_ino = 17, .st_dev = 3};

static struct queue open_queue(void) {
    struct queue queue;
    queue_open(&queue, database, &database_file);
    return queue;
}

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Forks a process that enters the queue and stays in it; returns once it has entered. */
static pid_t hold(unsigned milliseconds) {
    int ready[2];
    char word;
    check(pipe(ready) == 0, "pipe");
    pid_t pid = fork();
    if (pid == 0) {
        struct queue queue = open_queue();
        queue_lock(&queue);
        if (write(ready[1], "!", 1) != 1)
            _exit(1);
        usleep(milliseconds * 1000);
        _exit(0); /* without queue_unlock(): the end of the process releases the queue */
    }
    check(read(ready[0], &word, 1) == 1, "the queue is held");
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void check_wait(void) {
    struct queue queue = open_queue();
    pid_t pid = hold(300);
    long long began = now_ms();
    queue_lock(&queue);
    long long took = now_ms() - began;
    check(took >= 200 && took < 1500, "the next process enters when the holder ends, after %lld ms",
          took);
    queue_unlock(&queue);
    waitpid(pid, NULL, 0);
    queue_close(&queue);
}

static void check_patience(void) {
    struct queue queue = open_queue();
    pid_t pid = hold(60000);
    long long began = now_ms();
    queue_lock(&queue);
    long long took = now_ms() - began;
    check(took >= 1900 && took < 6000, "the wait is bounded: %lld ms", took);
    queue_unlock(&queue); /* it gave up waiting and does not hold the queue */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    began = now_ms();
    queue_lock(&queue);
    check(now_ms() - began < 1000, "a killed holder does not hold the queue");
    queue_unlock(&queue);
    queue_close(&queue);
}

/* Concurrent processes: only one is between queue_lock() and queue_unlock(). */
static void check_turns(void) {
    volatile long *count =
        mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            struct queue queue = open_queue();
            for (int turn = 0; turn < TURNS; turn++) {
                queue_lock(&queue);
                long seen = *count;
                if (turn % 16 == 0)
                    usleep(50);
                *count = seen + 1;
                queue_unlock(&queue);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    check(*count == (long)WRITERS * TURNS, "%ld increments", *count);
}

/* --- syncing to the disk --- */

struct disk {
    _Atomic long written[WRITERS], durable[WRITERS];
    _Atomic long syncs;
};

static struct disk *disk;

static int sync_disk(void *result) {
    long seen[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        seen[i] = disk->written[i];
    usleep(2000);
    for (int i = 0; i < WRITERS && !*(int *)result; i++)
        disk->durable[i] = seen[i];
    disk->syncs++;
    return *(int *)result;
}

static int succeed;

static void check_syncs(void) {
    enum { COMMITS = 50 };
    for (int me = 0; me < WRITERS; me++)
        if (fork() == 0) {
            struct queue queue = open_queue();
            long late = 0;
            for (int i = 1; i <= COMMITS; i++) {
                usleep(1000); /* as between two requests */
                disk->written[me] = i;
                if (queue_sync(&queue, sync_disk, &succeed) || disk->durable[me] < i)
                    late++;
            }
            _exit(late != 0);
        }
    int status;
    while (wait(&status) > 0)
        check(status == 0, "a commit is on the disk when queue_sync returns");
    check(disk->syncs < (long)WRITERS * COMMITS / 2,
          "one sync serves several commits: %ld syncs for %d", (long)disk->syncs,
          WRITERS * COMMITS);
}

static long syncs_of(struct queue *queue, int result) {
    long before = disk->syncs;
    check(queue_sync(queue, sync_disk, &result) == result,
          "queue_sync returns the result of the sync");
    return disk->syncs - before;
}

static void check_single_syncs(void) {
    struct queue queue = open_queue(), restored;
    check(syncs_of(&queue, 0) == 1 && syncs_of(&queue, 5) == 1 && syncs_of(&queue, 0) == 1,
          "a failed sync is repeated, and another commit causes another sync");
    struct stat other = database_file;
    other.st_ino++;
    queue_open(&restored, database, &other);
    check(syncs_of(&queue, 0) == 1 && syncs_of(&restored, 0) == 1,
          "a file that replaced the database has its own count");
    queue_close(&restored);
    queue_close(&queue);
    check(syncs_of(&queue, 0) == 1, "without a queue every commit is synced");
}

static int stop(void *unused) {
    (void)unused;
    raise(SIGSTOP);
    return 0;
}

/* A process is stopped in its sync: by a debugger, or the freezer of a container. */
static void check_stopped(void) {
    const pid_t pid = fork();
    int status;
    if (pid == 0) {
        struct queue queue = open_queue();
        _exit(queue_sync(&queue, stop, NULL));
    }
    check(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "the process is stopped");
    const long long began = now_ms();
    for (int i = 0; i < 10; i++) { /* each opens the queue, as a CGI does */
        struct queue queue = open_queue();
        check(syncs_of(&queue, 0) == 1, "a commit has a sync of its own");
        queue_close(&queue);
    }
    const long long took = now_ms() - began;
    check(took < 15000, "the first commit alone waits for the stopped one: %lld ms", took);
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    check(status == 0, "the stopped one goes on");
    check_syncs();
}

/* After a power failure the file may have one number older than the other. */
static void check_old_counts(const char *path) {
    const unsigned long long left[] = {0, 3, 900}; /* another database, committed, synced */
    FILE *file = fopen(path, "r+");
    check(file && fwrite(left, sizeof left, 1, file) == 1 && fclose(file) == 0, "written");
    struct queue queue = open_queue();
    check(syncs_of(&queue, 0) == 1 && syncs_of(&queue, 0) == 1, "no sync is left out");
    queue_close(&queue);
}

int main(void) {
    char directory[] = "/tmp/switchboard-queue-XXXXXX", path[300];
    struct stat made;
    if (!mkdtemp(directory))
        return 1;
    snprintf(database, sizeof database, "%s/d", directory);
    snprintf(path, sizeof path, "%s.queue", database);
    umask(077);
    struct queue queue = open_queue();
    queue_close(&queue);
    disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(stat(path, &made) == 0 && (made.st_mode & 07777) == 0660, "the database's mode");
    check_wait();
    check_patience();
    check_turns();
    check_syncs();
    check_single_syncs();
    disk->syncs = 0;
    check_stopped();
    check_old_counts(path);
    queue_open(&queue, "/nowhere/d", &database_file);
    check(queue.file == -1 && !queue.counts, "no directory, no queue");
    queue_lock(&queue);
    queue_unlock(&queue);
    unlink(path);
    rmdir(directory);
    return check_failures();
}
