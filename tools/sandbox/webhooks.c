#include "webhooks.h"

#include "messages.h"
#include "state.h"
#include "statuses.h"
#include "webhook_build.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 64, LOG_MAX = 2000, POSTS_MAX = 20000 };

/* The members of a call besides the updates. */
struct call_options {
    bool build; /* return the posts, do not send them */
    bool wait;
    uint64_t duplicates;
    uint64_t parallel;
    uint64_t retries;
    uint64_t retry_ms;
    uint64_t timeout_ms;
    char *url;
    char *app_secret;
    char *signature;
    char *batch;
    char *reorder;
    char *body;
    char *body_base64;
};

static const struct json_field option_fields[] = {
    {"build", JSON_FLAG, offsetof(struct call_options, build)},
    {"wait", JSON_FLAG, offsetof(struct call_options, wait)},
    {"duplicates", JSON_NUMBER, offsetof(struct call_options, duplicates)},
    {"parallel", JSON_NUMBER, offsetof(struct call_options, parallel)},
    {"retries", JSON_NUMBER, offsetof(struct call_options, retries)},
    {"retryMs", JSON_NUMBER, offsetof(struct call_options, retry_ms)},
    {"timeoutMs", JSON_NUMBER, offsetof(struct call_options, timeout_ms)},
    {"url", JSON_TEXT, offsetof(struct call_options, url)},
    {"appSecret", JSON_TEXT, offsetof(struct call_options, app_secret)},
    {"signature", JSON_TEXT, offsetof(struct call_options, signature)},
    {"batch", JSON_TEXT, offsetof(struct call_options, batch)},
    {"reorder", JSON_TEXT, offsetof(struct call_options, reorder)},
    {"body", JSON_TEXT, offsetof(struct call_options, body)},
    {"bodyBase64", JSON_TEXT, offsetof(struct call_options, body_base64)},
    {"updates", JSON_ELSEWHERE, 0},
    {NULL, JSON_ELSEWHERE, 0},
};

/* A call that is carried out in its own thread. */
struct job {
    struct exchange *exchange; /* NULL: the call was answered already */
    struct post *posts;
    size_t count;
    struct send_rules rules;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    atomic_bool stopped;
    size_t jobs;
    char *log[LOG_MAX];
    size_t logged; /* in all */
} webhooks = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};

bool webhook_stopped(void) {
    return webhooks.stopped;
}

int webhook_start(void) {
    return statuses_start();
}

void webhook_stop(void) {
    webhooks.stopped = true;
    statuses_stop();
    pthread_mutex_lock(&webhooks.lock);
    while (webhooks.jobs > 0) {
        pthread_cond_wait(&webhooks.idle, &webhooks.lock);
    }
    pthread_mutex_unlock(&webhooks.lock);
    webhook_log_clear();
}

struct send_rules webhook_rules(void) {
    return (struct send_rules){.parallel = 1,
                               .retries = settings.webhook_retries,
                               .retry_ms = settings.webhook_retry_ms,
                               .timeout_ms = settings.webhook_timeout_ms};
}

void webhook_log(const struct post *post) {
    struct bytes text = {0};
    char **entry;

    post_print(&text, post, false);
    pthread_mutex_lock(&webhooks.lock);
    entry = &webhooks.log[webhooks.logged++ % LOG_MAX];
    free(*entry);
    *entry = bytes_take(&text);
    pthread_mutex_unlock(&webhooks.lock);
}

void webhook_log_list(struct bytes *out) {
    size_t first;

    pthread_mutex_lock(&webhooks.lock);
    first = webhooks.logged > LOG_MAX ? webhooks.logged - LOG_MAX : 0;
    bytes_text(out, "[");
    for (size_t i = first; i < webhooks.logged; i++) {
        bytes_text(out, i == first ? "" : ",");
        bytes_text(out, webhooks.log[i % LOG_MAX]);
    }
    bytes_text(out, "]");
    pthread_mutex_unlock(&webhooks.lock);
}

void webhook_log_clear(void) {
    pthread_mutex_lock(&webhooks.lock);
    for (size_t i = 0; i < LOG_MAX; i++) {
        free(webhooks.log[i]);
        webhooks.log[i] = NULL;
    }
    webhooks.logged = 0;
    pthread_mutex_unlock(&webhooks.lock);
}

void webhook_kinds_list(struct bytes *out) {
    bytes_text(out, "[");
    for (const struct webhook_kind *kind = webhook_kinds; kind->name != NULL; kind++) {
        bytes_format(out, "%s{\"kind\":\"%s\",\"field\":\"%s\"}", kind == webhook_kinds ? "" : ",",
                     kind->name, kind->field);
    }
    bytes_text(out, "]");
}

static void posts_print(struct bytes *out, const struct post *posts, size_t count, bool body) {
    bytes_text(out, "{\"posts\":[");
    for (size_t i = 0; i < count; i++) {
        bytes_text(out, i == 0 ? "" : ",");
        post_print(out, &posts[i], body);
    }
    bytes_text(out, "]}");
}

static void posts_free(struct post *posts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        post_release(&posts[i]);
    }
    free(posts);
}

static void *job_run(void *cls) {
    struct job *job = cls;

    posts_send(job->posts, job->count, &job->rules, webhook_stopped);
    for (size_t i = 0; i < job->count; i++) {
        webhook_log(&job->posts[i]);
    }
    if (job->exchange != NULL) {
        posts_print(&job->exchange->reply.body, job->posts, job->count, false);
        MHD_resume_connection(job->exchange->connection);
    }
    posts_free(job->posts, job->count);
    free(job);
    pthread_mutex_lock(&webhooks.lock);
    webhooks.jobs--;
    pthread_cond_broadcast(&webhooks.idle);
    pthread_mutex_unlock(&webhooks.lock);
    return NULL;
}

/* Starts a thread that sends the posts and takes ownership of them. Returns false if too many
 * threads run already. */
static bool job_start(struct exchange *exchange, bool wait, struct post *posts, size_t count,
                      const struct send_rules *rules) {
    struct job *job = memory_new(sizeof *job);
    pthread_t thread;
    bool good;

    *job = (struct job){wait ? exchange : NULL, posts, count, *rules};
    pthread_mutex_lock(&webhooks.lock);
    good = !webhooks.stopped && webhooks.jobs < JOBS_MAX;
    if (good) {
        if (wait) {
            exchange->stage = STAGE_WAITING;
            MHD_suspend_connection(exchange->connection);
        }
        good = pthread_create(&thread, NULL, job_run, job) == 0;
        webhooks.jobs += good;
        if (good) {
            pthread_detach(thread);
        } else if (wait) {
            MHD_resume_connection(exchange->connection);
        }
    }
    pthread_mutex_unlock(&webhooks.lock);
    if (!good) {
        posts_free(posts, count);
        free(job);
    }
    return good;
}

/* All updates of a call with their ids, in order. */
struct updates {
    struct update *list;
    size_t count;
};

static void updates_free(struct updates *updates) {
    for (size_t i = 0; i < updates->count; i++) {
        update_release(&updates->list[i]);
    }
    free(updates->list);
}

/* Adds an update `count` times. If an id is given, a number is appended to it in all copies but the
 * first. */
static char *updates_add(struct updates *updates, const cJSON *json) {
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(json, "count");
    size_t count = cJSON_IsNumber(times) && times->valuedouble >= 1 ? (size_t)times->valueint : 1;

    if (updates->count + count > POSTS_MAX) {
        return memory_format("at most %d updates at once", POSTS_MAX);
    }
    updates->list = realloc(updates->list, (updates->count + count) * sizeof *updates->list);
    if (updates->list == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        struct update *update = &updates->list[updates->count++];
        char *problem = update_read(update, json);

        if (problem != NULL) {
            return problem;
        }
        if (update->id == NULL) {
            update->id = wamid_new(update->phone == NULL ? "" : update->phone);
        } else if (i > 0) {
            char *numbered = memory_format("%s%zu", update->id, i);

            free(update->id);
            update->id = numbered;
        }
    }
    return NULL;
}

static void swap_bytes(void *a, void *b, size_t size) {
    unsigned char *one = a;
    unsigned char *two = b;

    for (size_t i = 0; i < size; i++) {
        unsigned char kept = one[i];

        one[i] = two[i];
        two[i] = kept;
    }
}

/* Reverses or shuffles a list. */
static void list_reorder(void *list, size_t count, size_t size, const char *order) {
    char *at = list;

    for (size_t i = count; order != NULL && i > 1; i--) {
        size_t other = strcmp(order, "reverse") == 0 ? count - i : randombytes_uniform((uint32_t)i);

        if (strcmp(order, "reverse") == 0 && other >= i - 1) {
            return;
        }
        swap_bytes(at + (i - 1) * size, at + other * size, size);
    }
}

static bool read_batch(const char *text, enum batch *batch) {
    static const char *const names[] = {[BATCH_POSTS] = "posts",
                                        [BATCH_ENTRIES] = "entries",
                                        [BATCH_CHANGES] = "changes",
                                        [BATCH_MESSAGES] = "messages"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (text == NULL || strcmp(text, names[i]) == 0) {
            *batch = text == NULL ? BATCH_POSTS : (enum batch)i;
            return true;
        }
    }
    return false;
}

/* Returns the signature of a body, or a wrong or missing one as requested. */
static char *make_signature(const struct call_options *options, const struct bytes *body) {
    const char *secret = options->app_secret != NULL ? options->app_secret : settings.app_secret;
    char *right = webhook_sign(secret == NULL ? "" : secret, body);

    if (options->signature == NULL || strcmp(options->signature, "good") == 0) {
        return right;
    }
    if (strcmp(options->signature, "wrong") == 0) {
        char *last = &right[strlen(right) - 1];

        *last = *last == '0' ? '1' : '0';
        return right;
    }
    free(right);
    return strcmp(options->signature, "missing") == 0 ? NULL : memory_text(options->signature);
}

static void post_complete(struct post *post, const struct call_options *options) {
    post->url = memory_text(options->url != NULL ? options->url : settings.webhook_url);
    post->signature = make_signature(options, &post->body);
}

/* Builds the posts, with room for the duplicates. */
static struct post *posts_build(const struct call_options *options, struct updates *updates,
                                enum batch batch, size_t *count) {
    size_t single = batch == BATCH_POSTS ? updates->count : 1;
    size_t copies = (size_t)options->duplicates + 1;
    struct post *posts = memory_new(single * copies * sizeof *posts);
    struct payload payload = {NULL, NULL};

    for (size_t i = 0; i < updates->count; i++) {
        payload_add(&payload, &updates->list[i], batch);
        if (batch == BATCH_POSTS || i + 1 == updates->count) {
            struct post *post = &posts[(batch == BATCH_POSTS ? i : 0) * copies];

            post->ids = payload.ids;
            payload_encode(&payload, &post->body);
            post_complete(post, options);
        }
    }
    *count = single * copies;
    for (size_t i = 0; i < *count; i++) {
        const struct post *first = &posts[i - i % copies];

        if (i % copies != 0) {
            bytes_append(&posts[i].body, first->body.data, first->body.length);
            posts[i].ids = cJSON_Duplicate(first->ids, true);
            post_complete(&posts[i], options);
        }
    }
    return posts;
}

static struct post *posts_raw(const struct call_options *options, size_t *count, char **problem) {
    struct post *posts = memory_new(((size_t)options->duplicates + 1) * sizeof *posts);
    struct bytes body = {0};

    if (options->body != NULL) {
        bytes_text(&body, options->body);
    } else {
        size_t room = strlen(options->body_base64);
        size_t length = 0;

        if (sodium_base642bin((unsigned char *)bytes_room(&body, room), room, options->body_base64,
                              room, NULL, &length, NULL, sodium_base64_VARIANT_ORIGINAL) != 0) {
            *problem = memory_text("bodyBase64 is not Base64");
        }
        bytes_commit(&body, length);
    }
    *count = (size_t)options->duplicates + 1;
    for (size_t i = 0; i < *count; i++) {
        bytes_append(&posts[i].body, body.data, body.length);
        posts[i].ids = cJSON_CreateArray();
        post_complete(&posts[i], options);
    }
    bytes_release(&body);
    return posts;
}

/* Removes the members of the options from the call; the rest of the call describes an update. */
static cJSON *options_split(cJSON *json) {
    cJSON *taken = cJSON_CreateObject();

    for (const struct json_field *field = option_fields; field->name != NULL; field++) {
        cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(json, field->name);

        if (item != NULL) {
            cJSON_AddItemToObject(taken, field->name, item);
        }
    }
    return taken;
}

static char *options_check(const struct call_options *options, enum batch *batch) {
    if (options->duplicates > 1000 || options->parallel > 256 || options->parallel == 0) {
        return memory_text("at most 1000 duplicates, and parallel is 1 to 256");
    }
    if (options->reorder != NULL && strcmp(options->reorder, "reverse") != 0 &&
        strcmp(options->reorder, "shuffle") != 0) {
        return memory_text("reorder is reverse or shuffle");
    }
    if (!read_batch(options->batch, batch)) {
        return memory_text("batch is posts, entries, changes or messages");
    }
    if (!options->build && options->url == NULL && settings.webhook_url == NULL) {
        return memory_text("no url here, and no webhookUrl in the settings");
    }
    return NULL;
}

static char *read_updates(struct updates *updates, const cJSON *call, const cJSON *list) {
    const cJSON *item;
    char *problem = NULL;

    if (list == NULL) {
        return updates_add(updates, call);
    }
    if (cJSON_GetArraySize(list) == 0 || call->child != NULL) {
        return memory_text(
            "updates is a non-empty list, and nothing of an update stands beside it");
    }
    cJSON_ArrayForEach(item, list) {
        problem = problem == NULL ? updates_add(updates, item) : problem;
    }
    return problem;
}

static struct post *call_posts(struct call_options *options, const cJSON *call, const cJSON *list,
                               size_t *count, char **problem) {
    struct updates updates = {NULL, 0};
    struct post *posts = NULL;
    enum batch batch = BATCH_POSTS;

    *problem = options_check(options, &batch);
    if (*problem == NULL && (options->body != NULL || options->body_base64 != NULL)) {
        posts = posts_raw(options, count, problem);
    } else if (*problem == NULL) {
        *problem = read_updates(&updates, call, list);
        if (*problem == NULL) {
            list_reorder(updates.list, updates.count, sizeof *updates.list, options->reorder);
            posts = posts_build(options, &updates, batch, count);
        }
    }
    if (posts != NULL && options->reorder != NULL && strcmp(options->reorder, "shuffle") == 0) {
        list_reorder(posts, *count, sizeof *posts, options->reorder);
    }
    updates_free(&updates);
    return posts;
}

static struct call_options options_default(void) {
    struct send_rules rules = webhook_rules();

    return (struct call_options){.wait = true,
                                 .parallel = rules.parallel,
                                 .retries = rules.retries,
                                 .retry_ms = rules.retry_ms,
                                 .timeout_ms = rules.timeout_ms};
}

static bool call_carry_out(struct exchange *exchange, const struct call_options *options,
                           struct post *posts, size_t count, char **problem) {
    struct send_rules rules = {.parallel = (size_t)options->parallel,
                               .retries = options->retries,
                               .retry_ms = options->retry_ms,
                               .timeout_ms = options->timeout_ms};

    if (options->build) {
        posts_print(&exchange->reply.body, posts, count, true);
        posts_free(posts, count);
    } else if (!job_start(exchange, options->wait, posts, count, &rules)) {
        *problem = memory_text("too many webhook calls at once");
    } else if (!options->wait) {
        bytes_format(&exchange->reply.body, "{\"started\":%zu}", count);
    }
    return *problem == NULL;
}

bool webhook_call(struct exchange *exchange, char **problem) {
    struct call_options options = options_default();
    cJSON *taken = exchange->json == NULL ? NULL : options_split(exchange->json);
    struct post *posts = NULL;
    size_t count = 0;

    *problem = json_fill(&options, option_fields, taken);
    if (*problem == NULL) {
        posts = call_posts(&options, exchange->json,
                           cJSON_GetObjectItemCaseSensitive(taken, "updates"), &count, problem);
    }
    cJSON_Delete(taken);
    if (*problem != NULL) {
        posts_free(posts, posts == NULL ? 0 : count);
    } else {
        call_carry_out(exchange, &options, posts, count, problem);
    }
    json_fields_release(&options, option_fields);
    return *problem == NULL;
}

struct verification {
    char *url;
    char *verify_token;
    char *challenge;
    char *mode;
};

static const struct json_field verification_fields[] = {
    {"url", JSON_TEXT, offsetof(struct verification, url)},
    {"verifyToken", JSON_TEXT, offsetof(struct verification, verify_token)},
    {"challenge", JSON_TEXT, offsetof(struct verification, challenge)},
    {"mode", JSON_TEXT, offsetof(struct verification, mode)},
    {NULL, JSON_ELSEWHERE, 0},
};

/* Appends text with all but unreserved characters percent-encoded. */
static void add_encoded(struct bytes *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", *text)) {
            bytes_append(out, text, 1);
        } else {
            bytes_format(out, "%%%02X", (unsigned char)*text);
        }
    }
}

static char *verification_url(const struct verification *options) {
    struct bytes url = {0};
    const char *base = options->url != NULL ? options->url : settings.webhook_url;
    const char *token =
        options->verify_token != NULL ? options->verify_token : settings.verify_token;

    bytes_format(&url, "%s%chub.mode=", base, strchr(base, '?') == NULL ? '?' : '&');
    add_encoded(&url, options->mode == NULL ? "subscribe" : options->mode);
    bytes_text(&url, "&hub.challenge=");
    if (options->challenge == NULL) {
        bytes_format(&url, "%u", randombytes_random());
    } else {
        add_encoded(&url, options->challenge);
    }
    bytes_text(&url, "&hub.verify_token=");
    add_encoded(&url, token == NULL ? "" : token);
    return bytes_take(&url);
}

bool webhook_verify(struct exchange *exchange, char **problem) {
    struct verification options = {0};
    struct send_rules rules = webhook_rules();
    struct post *post;

    *problem =
        exchange->json == NULL ? NULL : json_fill(&options, verification_fields, exchange->json);
    if (*problem == NULL && options.url == NULL && settings.webhook_url == NULL) {
        *problem = memory_text("no url here, and no webhookUrl in the settings");
    }
    if (*problem == NULL) {
        rules.retries = 0;
        post = memory_new(sizeof *post);
        post->get = true;
        post->url = verification_url(&options);
        post->ids = cJSON_CreateArray();
        cJSON_AddItemToArray(post->ids, cJSON_CreateString(post->url));
        if (!job_start(exchange, true, post, 1, &rules)) {
            *problem = memory_text("too many webhook calls at once");
        }
    }
    json_fields_release(&options, verification_fields);
    return *problem == NULL;
}
