#include "wire/timer.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "text/memory.h"

/* Connections with a longer delay are watched, to free them when the client closes them. */
enum { WATCH_AFTER_MS = 500 };

struct held {
    struct MHD_Connection *connection;
    int64_t due;
    int watch; /* socket, or -1 */
};

/* A binary heap; the connection that is due first is at the top. */
static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    int wake;
    bool stopped;
    struct held *heap;
    size_t count;
    size_t capacity;
    size_t watched;
} timer = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1};

static void heap_swap(size_t a, size_t b) {
    struct held kept = timer.heap[a];
    timer.heap[a] = timer.heap[b];
    timer.heap[b] = kept;
}

static void heap_up(size_t at) {
    while (at > 0 && timer.heap[at].due < timer.heap[(at - 1) / 2].due) {
        heap_swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void heap_down(size_t at) {
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < timer.count && timer.heap[child].due < timer.heap[least].due)
                least = child;
        if (least == at)
            return;
        heap_swap(at, least);
        at = least;
    }
}

static struct held heap_remove(size_t at) {
    struct held gone = timer.heap[at];
    timer.heap[at] = timer.heap[--timer.count];
    if (at < timer.count) {
        heap_down(at);
        heap_up(at);
    }
    timer.watched -= gone.watch >= 0;
    return gone;
}

static void heap_add(struct held held) {
    if (timer.count == timer.capacity) {
        timer.capacity = timer.capacity == 0 ? 64 : 2 * timer.capacity;
        timer.heap = memory_resize(timer.heap, timer.capacity * sizeof *timer.heap);
    }
    timer.heap[timer.count++] = held;
    timer.watched += held.watch >= 0;
    heap_up(timer.count - 1);
}

static void wake_thread(void) {
    uint64_t one = 1;
    if (write(timer.wake, &one, sizeof one) < 0)
        abort();
}

static bool client_left(int socket) {
    struct pollfd watch = {.fd = socket, .events = POLLRDHUP};
    return poll(&watch, 1, 0) > 0;
}

/* Resumes the connections that are due or were closed by the client; all when the sandbox ends. */
static void resume_due(void) {
    int64_t now = clock_monotonic();
    while (timer.count > 0 && (timer.stopped || timer.heap[0].due <= now))
        MHD_resume_connection(heap_remove(0).connection);
    for (size_t i = timer.watched == 0 ? timer.count : 0; i < timer.count;)
        if (timer.heap[i].watch >= 0 && client_left(timer.heap[i].watch))
            MHD_resume_connection(heap_remove(i).connection);
        else
            i++;
}

static int next_wait(void) {
    int64_t now = clock_monotonic();
    int64_t wait = timer.watched > 0 ? 100 : 60000;
    if (timer.count > 0) {
        int64_t due = timer.heap[0].due;
        wait = due <= now ? 0 : due - now < wait ? due - now : wait;
    }
    return (int)wait;
}

static void *timer_run(void *unused) {
    (void)unused;
    pthread_mutex_lock(&timer.lock);
    while (!timer.stopped || timer.count > 0) {
        struct pollfd wake = {.fd = timer.wake, .events = POLLIN};
        uint64_t count;
        int wait = next_wait();
        pthread_mutex_unlock(&timer.lock);
        if (poll(&wake, 1, wait) > 0 && read(timer.wake, &count, sizeof count) < 0)
            abort();
        pthread_mutex_lock(&timer.lock);
        resume_due();
    }
    pthread_mutex_unlock(&timer.lock);
    return NULL;
}

bool timer_start(void) {
    timer.wake = eventfd(0, EFD_CLOEXEC);
    if (timer.wake < 0)
        return false;
    return pthread_create(&timer.thread, NULL, timer_run, NULL) == 0;
}

void timer_stop(void) {
    pthread_mutex_lock(&timer.lock);
    timer.stopped = true;
    wake_thread();
    pthread_mutex_unlock(&timer.lock);
    pthread_join(timer.thread, NULL);
    close(timer.wake);
    free(timer.heap);
}

/* The heap stays valid: below a connection that is held for ever there are only others. */
void timer_release(void) {
    pthread_mutex_lock(&timer.lock);
    for (size_t i = 0; i < timer.count; i++)
        if (timer.heap[i].due != TIMER_FOREVER)
            timer.heap[i].due = 0;
    wake_thread();
    pthread_mutex_unlock(&timer.lock);
}

bool timer_stopped(void) {
    bool stopped;
    pthread_mutex_lock(&timer.lock);
    stopped = timer.stopped;
    pthread_mutex_unlock(&timer.lock);
    return stopped;
}

bool timer_hold(struct MHD_Connection *connection, int64_t milliseconds) {
    struct held held = {.connection = connection, .due = TIMER_FOREVER, .watch = -1};
    if (milliseconds != TIMER_FOREVER)
        held.due = clock_monotonic() + milliseconds;
    if (milliseconds > WATCH_AFTER_MS)
        held.watch =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    pthread_mutex_lock(&timer.lock);
    if (timer.stopped) {
        pthread_mutex_unlock(&timer.lock);
        return false;
    }
    MHD_suspend_connection(connection);
    bool first = timer.count == 0 || held.due < timer.heap[0].due || timer.watched == 0;
    heap_add(held);
    if (first)
        wake_thread();
    pthread_mutex_unlock(&timer.lock);
    return true;
}
