#include "webhooks/webhook_log.h"

#include <pthread.h>
#include <stdlib.h>

#include "text/memory.h"

enum { LOG_MAX = 2000 };

/* A ring of JSON texts, each a block of memory. */
static struct {
    pthread_mutex_t lock;
    char *entries[LOG_MAX];
    size_t count; /* in all */
} webhooks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void log_add(struct slice text) {
    char *entry = memory_block(text.n + 1);
    memcpy(entry, text.p, text.n);
    pthread_mutex_lock(&webhooks.lock);
    char **place = &webhooks.entries[webhooks.count++ % LOG_MAX];
    free(*place);
    *place = entry;
    pthread_mutex_unlock(&webhooks.lock);
}

void webhook_log(struct arena *arena, const struct post *posts, size_t count) {
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < count; i++) {
        text.n = 0;
        post_print(&text, &posts[i], false);
        log_add(buffer_slice(&text));
    }
}

void webhook_log_list(struct buffer *out) {
    pthread_mutex_lock(&webhooks.lock);
    size_t first = webhooks.count > LOG_MAX ? webhooks.count - LOG_MAX : 0;
    buffer_add_text(out, "[");
    for (size_t i = first; i < webhooks.count; i++) {
        buffer_add_text(out, i == first ? "" : ",");
        buffer_add_text(out, webhooks.entries[i % LOG_MAX]);
    }
    buffer_add_text(out, "]");
    pthread_mutex_unlock(&webhooks.lock);
}

void webhook_log_clear(void) {
    pthread_mutex_lock(&webhooks.lock);
    for (size_t i = 0; i < LOG_MAX; i++) {
        free(webhooks.entries[i]);
        webhooks.entries[i] = NULL;
    }
    webhooks.count = 0;
    pthread_mutex_unlock(&webhooks.lock);
}
