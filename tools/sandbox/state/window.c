#include "state/window.h"

#include <inttypes.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>

#include "base/clock.h"
#include "state/settings.h"
#include "text/memory.h"

enum { OPEN_MS = 24 * 60 * 60 * 1000 };

/* One block of memory with its texts. */
struct window {
    const char *line, *user;
    int64_t wrote_at; /* 0: never */
    char texts[];
};

static struct {
    pthread_mutex_t lock;
    void *root; /* of a tree (tsearch) */
} windows = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct json_field window_fields[] = {
    {"phoneNumberId", JSON_TEXT, offsetof(struct window, line)},
    {"user", JSON_TEXT, offsetof(struct window, user)},
    {"wroteAt", JSON_NUMBER, offsetof(struct window, wrote_at)},
    {NULL, JSON_ELSEWHERE, 0},
};

static int compare(const void *a, const void *b) {
    const struct window *one = a, *other = b;
    int order = strcmp(one->line, other->line);
    return order != 0 ? order : strcmp(one->user, other->user);
}

/* Returns the window of this key, or NULL. Called under the lock. */
static struct window *find(const struct window *key) {
    struct window **at = tfind(key, &windows.root, compare);
    return at ? *at : NULL;
}

/* Returns the window of this key, a new one unless there is one. Called under the lock. */
static struct window *take(const struct window *key) {
    struct window *window = find(key);
    if (window)
        return window;
    size_t line = strlen(key->line) + 1, user = strlen(key->user) + 1;
    window = memory_block(sizeof *window + line + user);
    window->line = memcpy(window->texts, key->line, line);
    window->user = memcpy(window->texts + line, key->user, user);
    if (!tsearch(window, &windows.root, compare))
        abort();
    return window;
}

void window_open(const char *line, const char *user, int64_t wrote_at) {
    struct window key = {.line = line, .user = user};
    pthread_mutex_lock(&windows.lock);
    struct window *window = take(&key);
    if (wrote_at > window->wrote_at)
        window->wrote_at = wrote_at;
    pthread_mutex_unlock(&windows.lock);
}

bool window_is_open(const char *line, const char *user) {
    struct window key = {.line = line, .user = user};
    pthread_mutex_lock(&windows.lock);
    const struct window *window = find(&key);
    bool open = window && clock_now() - window->wrote_at < OPEN_MS;
    pthread_mutex_unlock(&windows.lock);
    return open || !settings.service_window;
}

const char *window_put(struct arena *arena, const cJSON *json) {
    struct window given = {.wrote_at = clock_now()};
    const char *problem = json_fill(arena, &given, window_fields, json);
    if (problem || !given.line || !given.user)
        return problem ? problem : "phoneNumberId and user are needed";
    pthread_mutex_lock(&windows.lock);
    take(&given)->wrote_at = given.wrote_at;
    pthread_mutex_unlock(&windows.lock);
    return NULL;
}

/* What the walk of the tree prints to, and its first separator. */
static struct buffer *walk_out;
static const char *walk_comma;

static void print_one(const void *node, VISIT which, int depth) {
    const struct window *window = *(struct window *const *)node;
    (void)depth;
    if (which != postorder && which != leaf)
        return;
    buffer_add_text(walk_out, walk_comma);
    json_fields_print(walk_out, window, window_fields);
    walk_comma = ",\n";
}

void window_print(struct buffer *out) {
    pthread_mutex_lock(&windows.lock);
    walk_out = out;
    walk_comma = "";
    twalk(windows.root, print_one);
    pthread_mutex_unlock(&windows.lock);
}

void window_clear(void) {
    pthread_mutex_lock(&windows.lock);
    while (windows.root) {
        struct window *window = *(struct window **)windows.root;
        tdelete(window, &windows.root, compare);
        free(window);
    }
    pthread_mutex_unlock(&windows.lock);
}
