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

/* A process that holds the place for some time, and says so first. */
static pid_t hold(unsigned milliseconds) {
    int ready[2];
    char word;
    check(pipe(ready) == 0, "pipe");
    pid_t pid = fork();
    if (pid == 0) {
        struct queue queue = open_queue();
        queue_enter(&queue);
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
    struct queue queue = open_queue();
    pid_t pid = hold(300);
    long long began = now_ms();
    queue_enter(&queue);
    long long took = now_ms() - began;
    check(took >= 200 && took < 1500, "the next one goes when the holder ends, after %lld ms",
          took);
    queue_leave(&queue);
    waitpid(pid, NULL, 0);
    queue_close(&queue);
}

static void check_patience(void) {
    struct queue queue = open_queue();
    pid_t pid = hold(60000);
    long long began = now_ms();
    queue_enter(&queue);
    long long took = now_ms() - began;
    check(took >= 1900 && took < 6000, "nobody waits for ever: %lld ms", took);
    queue_leave(&queue); /* it was never its turn */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    began = now_ms();
    queue_enter(&queue);
    check(now_ms() - began < 1000, "a killed holder has let go");
    queue_leave(&queue);
    queue_close(&queue);
}

/* Many at once: between enter and leave nobody else. */
static void check_turns(void) {
    volatile long *count =
        mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            struct queue queue = open_queue();
            for (int turn = 0; turn < TURNS; turn++) {
                queue_enter(&queue);
                long seen = *count;
                if (turn % 16 == 0)
                    usleep(50);
                *count = seen + 1;
                queue_leave(&queue);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    check(*count == (long)WRITERS * TURNS, "%ld turns", *count);
}

/* --- the way to the disk --- */

struct disk {
    _Atomic long written[WRITERS], durable[WRITERS];
    _Atomic long trips;
};

static struct disk *disk;

static int make_trip(void *result) {
    long seen[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        seen[i] = disk->written[i];
    usleep(2000);
    for (int i = 0; i < WRITERS && !*(int *)result; i++)
        disk->durable[i] = seen[i];
    disk->trips++;
    return *(int *)result;
}

static int succeed;

static void check_trips(void) {
    enum { COMMITS = 50 };
    for (int me = 0; me < WRITERS; me++)
        if (fork() == 0) {
            struct queue queue = open_queue();
            long late = 0;
            for (int i = 1; i <= COMMITS; i++) {
                usleep(1000); /* as between one request and the next */
                disk->written[me] = i;
                if (queue_sync(&queue, make_trip, &succeed) || disk->durable[me] < i)
                    late++;
            }
            _exit(late != 0);
        }
    int status;
    while (wait(&status) > 0)
        check(status == 0, "what was committed is on the disk when queue_sync returns");
    check(disk->trips < (long)WRITERS * COMMITS / 2, "one trip serves several: %ld trips for %d",
          (long)disk->trips, WRITERS * COMMITS);
}

static long trips_of(struct queue *queue, int result) {
    long before = disk->trips;
    check(queue_sync(queue, make_trip, &result) == result, "what the trip returned");
    return disk->trips - before;
}

static void check_single_trips(void) {
    struct queue queue = open_queue(), restored;
    check(trips_of(&queue, 0) == 1 && trips_of(&queue, 5) == 1 && trips_of(&queue, 0) == 1,
          "a trip that failed is made again, and another commit makes another trip");
    struct stat other = database_file;
    other.st_ino++;
    queue_open(&restored, database, &other);
    check(trips_of(&queue, 0) == 1 && trips_of(&restored, 0) == 1,
          "a file that was put in the database's place counts anew");
    queue_close(&restored);
    queue_close(&queue);
    check(trips_of(&queue, 0) == 1, "without a queue everybody goes alone");
}

/* The file may come back from a power failure with one number older than the other. */
static void check_old_counts(const char *path) {
    const unsigned long long left[] = {0, 3, 900}; /* of no database, committed, synced */
    FILE *file = fopen(path, "r+");
    check(file && fwrite(left, sizeof left, 1, file) == 1 && fclose(file) == 0, "written");
    struct queue queue = open_queue();
    check(trips_of(&queue, 0) == 1 && trips_of(&queue, 0) == 1, "no trip is left out");
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
    check_trips();
    check_single_trips();
    check_old_counts(path);
    queue_open(&queue, "/nowhere/d", &database_file);
    check(queue.file == -1 && !queue.counts, "no directory, no queue");
    queue_enter(&queue);
    queue_leave(&queue);
    unlink(path);
    rmdir(directory);
    return check_failures();
}
