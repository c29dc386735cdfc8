#include "webhooks/webhook_call.h"

#include <sodium.h>

#include "state/settings.h"
#include "state/wamid.h"
#include "text/json_fields.h"
#include "text/text.h"
#include "webhooks/webhook_job.h"
#include "webhooks/webhook_payload.h"

enum { POSTS_MAX = 20000, DUPLICATES_MAX = 1000, PARALLEL_MAX = 256 };

/* The members of a call, without the updates. */
struct call_options {
    bool build; /* return the posts, do not send them */
    bool wait;
    int64_t duplicates;
    int64_t parallel;
    int64_t retries;
    int64_t retry_ms;
    int64_t timeout_ms;
    const char *url;
    const char *app_secret;
    const char *signature;
    const char *batch;
    const char *reorder;
    const char *body;
    const char *body_base64;
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

/* All updates of a call with their ids, in order. */
struct updates {
    struct update *list;
    size_t count;
};

/* Numbers the copies of an update with a given id: all but the first. */
static const char *update_id(const struct update *update, size_t copy) {
    if (!update->id)
        return wamid_new(update->arena, update->phone ? update->phone : "");
    return copy == 0 ? update->id : arena_printf(update->arena, "%s%zu", update->id, copy);
}

/* Adds an update as often as its `count` says. */
static const char *updates_add(struct arena *arena, struct updates *updates, const cJSON *json) {
    const cJSON *times = json_get(json, "count");
    size_t count = cJSON_IsNumber(times) && times->valuedouble >= 1 ? (size_t)times->valueint : 1;
    if (updates->count + count > POSTS_MAX)
        return arena_printf(arena, "at most %d updates at once", POSTS_MAX);
    updates->list = arena_grow(arena, updates->list, updates->count * sizeof *updates->list,
                               (updates->count + count) * sizeof *updates->list);
    for (size_t i = 0; i < count; i++) {
        struct update *update = &updates->list[updates->count++];
        const char *problem = update_read(arena, update, json);
        if (problem)
            return problem;
        update->id = update_id(update, i);
    }
    return NULL;
}

static const char *read_updates(struct arena *arena, struct updates *updates, const cJSON *call,
                                const cJSON *list) {
    const cJSON *item;
    const char *problem = NULL;
    if (!list)
        return updates_add(arena, updates, call);
    if (cJSON_GetArraySize(list) == 0 || call->child)
        return "updates is a non-empty list, and nothing of an update stands beside it";
    cJSON_ArrayForEach(item, list) {
        if (!problem)
            problem = updates_add(arena, updates, item);
    }
    return problem;
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

static void list_reverse(void *list, size_t count, size_t size) {
    char *at = list;
    for (size_t i = 0; i < count / 2; i++)
        swap_bytes(at + i * size, at + (count - 1 - i) * size, size);
}

static void list_shuffle(void *list, size_t count, size_t size) {
    char *at = list;
    for (size_t i = count; i > 1; i--)
        swap_bytes(at + (i - 1) * size, at + randombytes_uniform((uint32_t)i) * size, size);
}

static bool order_is(const struct call_options *options, const char *order) {
    return options->reorder && strcmp(options->reorder, order) == 0;
}

static bool read_batch(const char *text, enum batch *batch) {
    static const char *const names[] = {[BATCH_POSTS] = "posts",
                                        [BATCH_ENTRIES] = "entries",
                                        [BATCH_CHANGES] = "changes",
                                        [BATCH_MESSAGES] = "messages"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!text || strcmp(text, names[i]) == 0) {
            *batch = text ? (enum batch)i : BATCH_POSTS;
            return true;
        }
    }
    return false;
}

/* Returns the signature of a body, or a wrong or missing one as requested. */
static const char *make_signature(struct arena *arena, const struct call_options *options,
                                  struct slice body) {
    const char *given = options->signature ? options->signature : "good";
    char *right =
        post_sign(arena, options->app_secret ? options->app_secret : settings.app_secret, body);
    if (strcmp(given, "good") == 0)
        return right;
    if (strcmp(given, "wrong") == 0) {
        char *last = &right[strlen(right) - 1];
        *last = *last == '0' ? '1' : '0';
        return right;
    }
    return strcmp(given, "missing") == 0 ? NULL : given;
}

/* Adds a post of the body to the job, and its duplicates. Without a URL in the options it goes to
 * `url`. */
static void add_posts(struct job *job, const struct call_options *options, const char *url,
                      struct slice body, struct slice ids) {
    const char *signature = text_copy(job->arena, make_signature(job->arena, options, body));
    if (options->url)
        url = options->url;
    for (int64_t copy = 0; copy <= options->duplicates; copy++)
        job->posts[job->count++] = (struct post){
            .url = text_copy(job->arena, url), .body = body, .ids = ids, .signature = signature};
}

static void reserve_posts(struct job *job, const struct call_options *options, size_t bodies) {
    job->posts =
        arena_alloc(job->arena, bodies * ((size_t)options->duplicates + 1) * sizeof *job->posts);
}

static void build_posts(struct job *job, const struct call_options *options,
                        const struct updates *updates, enum batch batch) {
    struct payload payload = {.batch = batch};
    struct slice body, ids;
    reserve_posts(job, options, batch == BATCH_POSTS ? updates->count : 1);
    for (size_t i = 0; i < updates->count; i++) {
        payload_add(&payload, &updates->list[i]);
        if (!options->build)
            payload_show(&payload, &updates->list[i]);
        if (batch == BATCH_POSTS || i + 1 == updates->count) {
            payload_end(&payload, job->arena, &body, &ids);
            add_posts(job, options, callback_url(job->arena, &updates->list[i]), body, ids);
        }
    }
}

/* Makes the posts of a call that gives the body itself. */
static const char *raw_posts(struct job *job, const struct call_options *options) {
    struct slice body = options->body ? slice_of(text_copy(job->arena, options->body))
                                      : crypto_unbase64(job->arena, slice_of(options->body_base64));
    if (!body.p)
        return "bodyBase64 is not Base64";
    reserve_posts(job, options, 1);
    add_posts(job, options, settings.webhook_url, body, SLICE("[]"));
    return NULL;
}

static const char *options_check(const struct call_options *options, enum batch *batch) {
    if (options->duplicates > DUPLICATES_MAX || options->parallel > PARALLEL_MAX ||
        options->parallel == 0)
        return "at most 1000 duplicates, and parallel is 1 to 256";
    if (options->reorder && !order_is(options, "reverse") && !order_is(options, "shuffle"))
        return "reorder is reverse or shuffle";
    if (!read_batch(options->batch, batch))
        return "batch is posts, entries, changes or messages";
    return NULL;
}

/* Makes the posts of the call. The texts of the error lie in the arena of the job. */
static const char *call_posts(struct job *job, const struct call_options *options,
                              const cJSON *call, const cJSON *list) {
    struct updates updates = {NULL, 0};
    enum batch batch = BATCH_POSTS;
    const char *problem = options_check(options, &batch);
    if (problem)
        return problem;
    if (options->body || options->body_base64) {
        problem = raw_posts(job, options);
    } else {
        problem = read_updates(job->arena, &updates, call, list);
        if (problem)
            return problem;
        if (order_is(options, "reverse"))
            list_reverse(updates.list, updates.count, sizeof *updates.list);
        else if (options->reorder)
            list_shuffle(updates.list, updates.count, sizeof *updates.list);
        build_posts(job, options, &updates, batch);
    }
    for (size_t i = 0; !problem && !options->build && i < job->count; i++)
        if (!job->posts[i].url)
            problem = "no url here, no callback of the account, and no webhookUrl in the settings";
    if (!problem && order_is(options, "shuffle"))
        list_shuffle(job->posts, job->count, sizeof *job->posts);
    return problem;
}

/* Removes the members of the options from the call; the rest of the call describes an update. */
static cJSON *options_split(cJSON *json) {
    cJSON *taken = cJSON_CreateObject();
    for (const struct json_field *field = option_fields; field->name; field++) {
        cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(json, field->name);
        if (item)
            cJSON_AddItemToObject(taken, field->name, item);
    }
    return taken;
}

static struct call_options options_default(void) {
    struct send_rules rules = send_rules_default();
    return (struct call_options){.wait = true,
                                 .parallel = (int64_t)rules.parallel,
                                 .retries = rules.retries,
                                 .retry_ms = rules.retry_ms,
                                 .timeout_ms = rules.timeout_ms};
}

static bool job_begin(struct job *job, const struct call_options *options) {
    job->rules = (struct send_rules){.parallel = (size_t)options->parallel,
                                     .retries = options->retries,
                                     .retry_ms = options->retry_ms,
                                     .timeout_ms = options->timeout_ms};
    return job_start(job);
}

/* Sends or prints the posts of the job, which it takes over unless it returns an error. */
static const char *call_carry_out(struct exchange *exchange, const struct call_options *options,
                                  struct job *job) {
    size_t count = job->count;
    if (options->build) {
        posts_print(&exchange->reply.body, job->posts, job->count, true);
        job_free(job);
        return NULL;
    }
    job->exchange = options->wait ? exchange : NULL;
    if (!job_begin(job, options))
        return "too many webhook calls at once";
    if (!options->wait)
        buffer_printf(&exchange->reply.body, "{\"started\":%zu}", count);
    return NULL;
}

static void finish_notify(struct exchange *exchange, const struct post *posts, void *cls) {
    (void)posts;
    (void)cls;
    buffer_add_text(&exchange->reply.body, "{\"done\":true}");
}

bool webhook_notify(struct exchange *exchange, const cJSON *updates) {
    static const cJSON nothing_else;
    struct call_options options = options_default();
    struct job *job = job_new();
    job->exchange = exchange;
    job->finish = finish_notify;
    bool started = !call_posts(job, &options, &nothing_else, updates) && job_begin(job, &options);
    if (!started)
        job_free(job);
    return started;
}

const char *webhook_call(struct exchange *exchange) {
    struct call_options options = options_default();
    struct job *job = job_new();
    cJSON *taken = exchange->json ? options_split(exchange->json) : NULL;
    const char *problem = json_fill(exchange->arena, &options, option_fields, taken);
    if (!problem)
        problem = call_posts(job, &options, exchange->json, json_get(taken, "updates"));
    cJSON_Delete(taken);
    if (!problem)
        problem = call_carry_out(exchange, &options, job);
    if (problem) {
        problem = arena_copy(exchange->arena, slice_of(problem));
        job_free(job);
    }
    return problem;
}
