#include "webhooks/statuses.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "state/chat.h"
#include "state/sandbox.h"
#include "state/settings.h"
#include "state/template_list.h"
#include "text/memory.h"
#include "text/text.h"
#include "webhooks/webhook_payload.h"
#include "webhooks/webhook_post.h"
#include "webhooks/webhook_transfer.h"

enum { AT_ONCE = 64, PARALLEL = 8 };

/* A status that is to be sent. */
struct pending {
    int64_t due; /* monotonic */
    cJSON *update;
    struct pending *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool stopped;
    struct pending *first; /* the earliest first */
} statuses = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void pending_add(cJSON *update, int64_t due) {
    struct pending *pending = memory_block(sizeof *pending);
    struct pending **link = &statuses.first;
    pending->due = due;
    pending->update = update;
    while (*link && (*link)->due <= due)
        link = &(*link)->next;
    pending->next = *link;
    *link = pending;
}

static cJSON *make_update(const struct send *send, const char *kind, const char *digits,
                          const char *wamid) {
    const char *data = json_text(send->body, "biz_opaque_callback_data");
    cJSON *update = cJSON_CreateObject();
    cJSON_AddStringToObject(update, "kind", kind);
    cJSON_AddStringToObject(update, "phoneNumberId", send->phone->id);
    cJSON_AddStringToObject(update, send->to ? "phone" : "bsuid",
                            send->to ? digits : send->recipient);
    cJSON_AddStringToObject(update, "id", wamid);
    if (data)
        cJSON_AddStringToObject(update, "callbackData", data);
    return update;
}

void statuses_after_send(const struct send *send, const char *digits, const char *wamid,
                         int64_t failure) {
    static const char *const arriving[] = {"status_sent", "status_delivered", "status_read"};
    struct chat chat = {.line = send->phone->id, .user = send->to ? digits : send->recipient};
    bool arrives = failure == 0 && !chat_is_blocked(&chat) && !chat_is_open(&chat);
    size_t count = arrives ? sizeof arriving / sizeof *arriving : 1;
    int64_t now = clock_monotonic();
    if (!settings.automatic_statuses)
        return;
    pthread_mutex_lock(&statuses.lock);
    for (size_t i = 0; i < count; i++) {
        cJSON *update =
            make_update(send, failure == 0 ? arriving[i] : "status_failed", digits, wamid);
        if (failure != 0)
            cJSON_AddNumberToObject(update, "code", (double)failure);
        pending_add(update, now + (int64_t)(i + 1) * settings.status_delay_ms);
    }
    pthread_cond_signal(&statuses.wake);
    pthread_mutex_unlock(&statuses.lock);
}

void statuses_schedule(cJSON *update, int64_t milliseconds) {
    pthread_mutex_lock(&statuses.lock);
    pending_add(update, clock_monotonic() + milliseconds);
    pthread_cond_signal(&statuses.wake);
    pthread_mutex_unlock(&statuses.lock);
}

/* Whether the update is to be sent: of a review, whether it changed its template. */
static bool take_effect(const cJSON *update) {
    if (strcmp(json_text(update, "kind"), "template_status") != 0)
        return true;
    return template_settle(json_text(update, "templateId"), json_text(update, "event"),
                           json_text(json_get(update, "message"), "reason"));
}

/* Whether one of the updates is a status of the same message. */
static bool is_of_same_message(cJSON *const *updates, size_t count, const cJSON *update) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(json_text(updates[i], "id"), json_text(update, "id")) == 0)
            return true;
    return false;
}

/* Removes the statuses that are due, at most AT_ONCE, from the list and returns their number. They
 * are posted at the same time, so the next status of a message waits. */
static size_t remove_due(cJSON **updates, int64_t now) {
    size_t count = 0;
    while (count < AT_ONCE && statuses.first && statuses.first->due <= now &&
           !is_of_same_message(updates, count, statuses.first->update)) {
        struct pending *gone = statuses.first;
        statuses.first = gone->next;
        updates[count++] = gone->update;
        free(gone);
    }
    return count;
}

/* Waits for a signal, at most until the first status is due. */
static void wait_due(int64_t now) {
    if (!statuses.first) {
        pthread_cond_wait(&statuses.wake, &statuses.lock);
        return;
    }
    int64_t until = clock_now() + statuses.first->due - now;
    struct timespec time = {.tv_sec = (time_t)(until / 1000),
                            .tv_nsec = (long)(until % 1000) * 1000000};
    pthread_cond_timedwait(&statuses.wake, &statuses.lock, &time);
}

/* Waits until statuses are due and removes them from the list. Returns their number; 0 only when
 * the thread is to end. */
static size_t take_due(cJSON **updates) {
    size_t count = 0;
    pthread_mutex_lock(&statuses.lock);
    while (!statuses.stopped && count == 0) {
        int64_t now = clock_monotonic();
        count = remove_due(updates, now);
        if (count == 0)
            wait_due(now);
    }
    pthread_mutex_unlock(&statuses.lock);
    return count;
}

/* Makes the post of an update. Returns false when the account was deleted or there is no URL for
 * it. */
static bool make_post(struct arena *arena, struct post *post, const cJSON *json) {
    struct payload payload = {.batch = BATCH_POSTS};
    struct update update;
    if (!take_effect(json) || update_read(arena, &update, json))
        return false;
    *post = (struct post){.url = callback_url(arena, &update)};
    if (!post->url)
        return false;
    payload_add(&payload, &update);
    payload_show(&payload, &update);
    payload_end(&payload, arena, &post->body, &post->ids);
    post->signature = post_sign(arena, settings.app_secret, post->body);
    return true;
}

static void send_statuses(cJSON **updates, size_t count) {
    struct arena *arena = memory_open();
    struct post *posts = arena_alloc(arena, count * sizeof *posts);
    size_t made = 0;
    state_write(); /* a review changes its template */
    struct send_rules rules = send_rules_default();
    rules.parallel = PARALLEL;
    for (size_t i = 0; i < count; i++) {
        made += make_post(arena, &posts[made], updates[i]);
        cJSON_Delete(updates[i]);
    }
    state_done();
    posts_send(arena, posts, made, &rules);
    webhook_log(arena, posts, made);
    memory_close(arena);
}

static void *statuses_run(void *unused) {
    cJSON *updates[AT_ONCE];
    size_t count;
    (void)unused;
    while ((count = take_due(updates)) > 0)
        send_statuses(updates, count);
    return NULL;
}

bool statuses_start(void) {
    return pthread_create(&statuses.thread, NULL, statuses_run, NULL) == 0;
}

void statuses_stop(void) {
    pthread_mutex_lock(&statuses.lock);
    statuses.stopped = true;
    pthread_cond_signal(&statuses.wake);
    pthread_mutex_unlock(&statuses.lock);
    pthread_join(statuses.thread, NULL);
    while (statuses.first) {
        struct pending *gone = statuses.first;
        statuses.first = gone->next;
        cJSON_Delete(gone->update);
        free(gone);
    }
}
