#include "statuses.h"

#include "numbers.h"
#include "state.h"
#include "timer.h"
#include "webhook_build.h"
#include "webhooks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AT_ONCE = 64 };

/* A status that is to be sent. */
struct pending {
    uint64_t due; /* monotonic */
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

static void pending_add(cJSON *update, uint64_t due) {
    struct pending *pending = memory_new(sizeof *pending);
    struct pending **link = &statuses.first;

    pending->due = due;
    pending->update = update;
    while (*link != NULL && (*link)->due <= due) {
        link = &(*link)->next;
    }
    pending->next = *link;
    *link = pending;
}

static cJSON *make_update(const struct send *send, const char *kind, const char *digits,
                          const char *wamid) {
    const char *data = json_text(send->body, "biz_opaque_callback_data");
    cJSON *update = cJSON_CreateObject();

    cJSON_AddStringToObject(update, "kind", kind);
    cJSON_AddStringToObject(update, "phoneNumberId", send->phone->id);
    cJSON_AddStringToObject(update, send->to != NULL ? "phone" : "bsuid",
                            send->to != NULL ? digits : send->recipient);
    cJSON_AddStringToObject(update, "id", wamid);
    if (data != NULL) {
        cJSON_AddStringToObject(update, "callbackData", data);
    }
    return update;
}

void statuses_after_send(const struct send *send, const char *digits, const char *wamid) {
    static const char *const arriving[] = {"status_sent", "status_delivered", "status_read"};
    const struct number *number = number_find(digits);
    uint64_t code = number == NULL ? 0 : number->fail_code;
    size_t count = code == 0 ? sizeof arriving / sizeof *arriving : 1;
    uint64_t now = clock_monotonic();

    if (!settings.automatic_statuses || settings.webhook_url == NULL) {
        return;
    }
    pthread_mutex_lock(&statuses.lock);
    for (size_t i = 0; i < count; i++) {
        cJSON *update = make_update(send, code == 0 ? arriving[i] : "status_failed", digits, wamid);

        if (code != 0) {
            cJSON_AddNumberToObject(update, "code", (double)code);
        }
        pending_add(update, now + (i + 1) * settings.status_delay_ms);
    }
    pthread_cond_signal(&statuses.wake);
    pthread_mutex_unlock(&statuses.lock);
}

/* Returns true if one of the updates is a status of the same message. */
static bool is_of_same_message(cJSON *const *updates, size_t count, const cJSON *update) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(json_text(updates[i], "id"), json_text(update, "id")) == 0) {
            return true;
        }
    }
    return false;
}

/* Waits until statuses are due, and removes at most AT_ONCE of them from the list. Returns their
 * number; 0 only when the thread is to end. */
static size_t take_due(cJSON **updates) {
    size_t count = 0;

    pthread_mutex_lock(&statuses.lock);
    while (!statuses.stopped && count == 0) {
        uint64_t now = clock_monotonic();

        /* those taken are posted at the same time, so the next status of a message waits */
        while (count < AT_ONCE && statuses.first != NULL && statuses.first->due <= now &&
               !is_of_same_message(updates, count, statuses.first->update)) {
            struct pending *gone = statuses.first;

            statuses.first = gone->next;
            updates[count++] = gone->update;
            free(gone);
        }
        if (count == 0 && statuses.first == NULL) {
            pthread_cond_wait(&statuses.wake, &statuses.lock);
        } else if (count == 0) {
            uint64_t wait = statuses.first->due - now;
            struct timespec until;

            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += (long)(wait % 1000) * 1000000;
            until.tv_sec += (time_t)(wait / 1000) + until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&statuses.wake, &statuses.lock, &until);
        }
    }
    pthread_mutex_unlock(&statuses.lock);
    return count;
}

/* Makes the post of an update. Returns false if the account was deleted or no webhook URL is
 * set. */
static bool make_post(struct post *post, const cJSON *json) {
    struct update update;
    struct payload payload = {NULL, NULL};
    char *problem = settings.webhook_url == NULL ? memory_text("no url") : NULL;
    bool good;

    memset(post, 0, sizeof *post);
    if (problem == NULL) {
        problem = update_read(&update, json);
        if (problem == NULL) {
            payload_add(&payload, &update, BATCH_POSTS);
            post->ids = payload.ids;
            payload_encode(&payload, &post->body);
            post->url = memory_text(settings.webhook_url);
            post->signature =
                webhook_sign(settings.app_secret == NULL ? "" : settings.app_secret, &post->body);
        }
        update_release(&update);
    }
    good = problem == NULL;
    free(problem);
    return good;
}

static void send_statuses(cJSON **updates, size_t count) {
    struct post *posts = memory_new(count * sizeof *posts);
    struct send_rules rules;
    size_t made = 0;

    state_read();
    rules = webhook_rules();
    rules.parallel = 8;
    for (size_t i = 0; i < count; i++) {
        made += make_post(&posts[made], updates[i]);
        cJSON_Delete(updates[i]);
    }
    state_done();
    posts_send(posts, made, &rules, webhook_stopped);
    for (size_t i = 0; i < made; i++) {
        webhook_log(&posts[i]);
        post_release(&posts[i]);
    }
    free(posts);
}

static void *statuses_run(void *unused) {
    cJSON *updates[AT_ONCE];
    size_t count;

    (void)unused;
    while ((count = take_due(updates)) > 0) {
        send_statuses(updates, count);
    }
    return NULL;
}

int statuses_start(void) {
    return pthread_create(&statuses.thread, NULL, statuses_run, NULL) == 0 ? 0 : -1;
}

void statuses_stop(void) {
    pthread_mutex_lock(&statuses.lock);
    statuses.stopped = true;
    pthread_cond_signal(&statuses.wake);
    pthread_mutex_unlock(&statuses.lock);
    pthread_join(statuses.thread, NULL);
    while (statuses.first != NULL) {
        struct pending *gone = statuses.first;

        statuses.first = gone->next;
        cJSON_Delete(gone->update);
        free(gone);
    }
}
