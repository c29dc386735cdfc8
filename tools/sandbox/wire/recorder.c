#include "wire/recorder.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "text/json_print.h"
#include "text/memory.h"
#include "text/text.h"

enum { BODY_SHOWN_MAX = 1 << 20, RECORD_OVERHEAD = 128 };

/* One block of memory: the texts lie behind the struct. */
struct record {
    int64_t id;
    int64_t time; /* Unix milliseconds */
    const char *method;
    const char *target;
    const char *headers; /* JSON object */
    const char *sha256;  /* of the body, in hexadecimal */
    struct slice body;   /* p NULL: not stored */
    int64_t body_length;
    bool complete;
    int64_t cost;
    struct record *next;
    char texts[];
};

static struct {
    pthread_mutex_t lock;
    struct record *first, *last;
    int64_t last_id;
    int64_t cost, limit;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = 64 << 20};

static void drop_first(void) {
    struct record *gone = recorder.first;
    recorder.first = gone->next;
    if (!recorder.first)
        recorder.last = NULL;
    recorder.cost -= gone->cost;
    free(gone);
}

void recorder_limit(int64_t bytes) {
    recorder.limit = bytes;
}

struct header_list {
    struct arena *arena;
    cJSON *json;
};

static enum MHD_Result collect_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                      const char *value) {
    const struct header_list *headers = cls;
    char *lower = arena_copy(headers->arena, slice_of(name));
    (void)kind;
    for (char *at = lower; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    cJSON *known = cJSON_GetObjectItemCaseSensitive(headers->json, lower);
    if (!value)
        value = "";
    if (known)
        cJSON_SetValuestring(known,
                             arena_printf(headers->arena, "%s, %s", known->valuestring, value));
    else
        cJSON_AddStringToObject(headers->json, lower, value);
    return MHD_YES;
}

/* Returns all request headers as JSON, names in lower case, repeated ones joined by ", ". */
static const char *headers_json(const struct exchange *exchange) {
    struct header_list headers = {exchange->arena, cJSON_CreateObject()};
    struct buffer text = buffer_in(exchange->arena);
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, collect_header, &headers);
    json_print(&text, headers.json);
    cJSON_Delete(headers.json);
    return text.p;
}

/* Copies `bytes` and a NUL to `*end`, which moves behind them. */
static const char *place(char **end, struct slice bytes) {
    char *start = *end;
    memcpy(start, slice_octets(bytes), bytes.n);
    *end += bytes.n + 1;
    return start;
}

/* Returns a record of the exchange, which ends its digest. */
static struct record *record_new(struct exchange *exchange) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256_end(exchange->digest, hash);
    struct slice method = slice_of(exchange->method), target = slice_of(exchange->target),
                 headers = slice_of(headers_json(exchange)),
                 sha256 = slice_of(crypto_hex(exchange->arena, hash, sizeof hash)),
                 body = exchange_body(exchange);
    struct record *record =
        memory_block(sizeof *record + method.n + target.n + headers.n + sha256.n + body.n + 5);
    char *end = record->texts;
    record->time = clock_now();
    record->method = place(&end, method);
    record->target = place(&end, target);
    record->headers = place(&end, headers);
    record->sha256 = place(&end, sha256);
    record->complete = exchange->complete;
    record->body_length = exchange->body_length;
    if ((int64_t)body.n == exchange->body_length)
        record->body = (struct slice){place(&end, body), body.n};
    record->cost =
        (int64_t)(sizeof *record + target.n + headers.n + record->body.n) + RECORD_OVERHEAD;
    return record;
}

void recorder_keep(struct exchange *exchange) {
    struct record *record = record_new(exchange);
    exchange->recorded = true;
    pthread_mutex_lock(&recorder.lock);
    record->id = ++recorder.last_id;
    *(recorder.last ? &recorder.last->next : &recorder.first) = record;
    recorder.last = record;
    recorder.cost += record->cost;
    while (recorder.cost > recorder.limit && recorder.first != recorder.last)
        drop_first();
    pthread_mutex_unlock(&recorder.lock);
}

static bool record_matches(const struct record *record, const struct record_filter *filter) {
    return text_contains(record->target, filter->path) &&
           text_matches(record->method, filter->method);
}

static void print_text(struct buffer *out, const char *name, struct slice text) {
    buffer_printf(out, ",\"%s\":", name);
    json_quote(out, text);
}

/* A body is printed as text when it is valid UTF-8 and not too long. */
static bool body_is_text(const struct record *record) {
    return record->body.p && record->body.n <= BODY_SHOWN_MAX && utf8_valid(record->body);
}

static void record_print(struct buffer *out, const struct record *record) {
    struct slice query = slice_of(record->target);
    struct slice path = slice_cut(&query, '?');
    buffer_printf(out, "{\"id\":%" PRId64 ",\"time\":%" PRId64, record->id, record->time);
    print_text(out, "method", slice_of(record->method));
    print_text(out, "path", path);
    print_text(out, "query", query);
    buffer_printf(
        out, ",\"headers\":%s,\"complete\":%s,\"bodyLength\":%" PRId64 ",\"bodySha256\":\"%s\"",
        record->headers, record->complete ? "true" : "false", record->body_length, record->sha256);
    if (body_is_text(record))
        print_text(out, "body", record->body);
    else
        buffer_add_text(out, ",\"body\":null");
    buffer_add_text(out, "}");
}

static int64_t count_matches(const struct record_filter *filter) {
    int64_t count = 0;
    for (const struct record *at = recorder.first; at; at = at->next)
        count += record_matches(at, filter);
    return count;
}

void recorder_list(struct buffer *out, const struct record_filter *filter) {
    const char *comma = "[";
    int64_t skip;
    pthread_mutex_lock(&recorder.lock);
    skip = filter->last == 0 ? 0 : count_matches(filter);
    skip = skip > filter->last ? skip - filter->last : 0;
    for (const struct record *at = recorder.first; at; at = at->next) {
        if (record_matches(at, filter) && (skip == 0 || skip-- == 0)) {
            buffer_add_text(out, comma);
            record_print(out, at);
            comma = ",";
        }
    }
    buffer_add_text(out, *comma == '[' ? "[]" : "]");
    pthread_mutex_unlock(&recorder.lock);
}

int64_t recorder_count(const struct record_filter *filter) {
    int64_t count;
    pthread_mutex_lock(&recorder.lock);
    count = count_matches(filter);
    pthread_mutex_unlock(&recorder.lock);
    return count;
}

static const struct record *record_find(int64_t id, const struct record_filter *filter) {
    const struct record *found = NULL;
    for (const struct record *at = recorder.first; at; at = at->next)
        if (id == 0 ? record_matches(at, filter) : at->id == id)
            found = at;
    return found;
}

bool recorder_show(struct buffer *out, int64_t id, const struct record_filter *filter) {
    const struct record *record;
    pthread_mutex_lock(&recorder.lock);
    record = record_find(id, filter);
    if (record)
        record_print(out, record);
    pthread_mutex_unlock(&recorder.lock);
    return record;
}

bool recorder_body(struct buffer *out, int64_t id, const struct record_filter *filter) {
    const struct record *record;
    pthread_mutex_lock(&recorder.lock);
    record = record_find(id, filter);
    bool kept = record && record->body.p;
    if (kept)
        buffer_add_slice(out, record->body);
    pthread_mutex_unlock(&recorder.lock);
    return kept;
}

void recorder_clear(void) {
    pthread_mutex_lock(&recorder.lock);
    while (recorder.first)
        drop_first();
    pthread_mutex_unlock(&recorder.lock);
}
