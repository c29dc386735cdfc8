#include "recorder.h"

#include "timer.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_SHOWN_MAX = 1 << 20 };

struct record {
    uint64_t id;
    uint64_t time; /* Unix milliseconds */
    char *method;
    char *target;
    char *headers; /* JSON object */
    char *body;    /* NULL if not stored */
    size_t body_kept;
    uint64_t body_length;
    unsigned char digest[crypto_hash_sha256_BYTES];
    bool complete;
    size_t cost;
    struct record *next;
};

static struct {
    pthread_mutex_t lock;
    struct record *first, *last;
    uint64_t last_id;
    uint64_t cost, limit;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = 64 << 20};

static void record_free(struct record *record) {
    free(record->method);
    free(record->target);
    free(record->headers);
    free(record->body);
    free(record);
}

static void drop_first(void) {
    struct record *gone = recorder.first;

    recorder.first = gone->next;
    if (recorder.first == NULL) {
        recorder.last = NULL;
    }
    recorder.cost -= gone->cost;
    record_free(gone);
}

void recorder_limit(uint64_t bytes) {
    recorder.limit = bytes;
}

static enum MHD_Result collect_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                      const char *value) {
    cJSON *headers = cls;
    char *lower = memory_text(name);
    cJSON *known;

    (void)kind;
    for (char *at = lower; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    known = cJSON_GetObjectItemCaseSensitive(headers, lower);
    if (known == NULL) {
        cJSON_AddStringToObject(headers, lower, value == NULL ? "" : value);
    } else {
        char *joined = memory_format("%s, %s", known->valuestring, value == NULL ? "" : value);

        cJSON_SetValuestring(known, joined);
        free(joined);
    }
    free(lower);
    return MHD_YES;
}

/* All request headers, names in lower case, repeated ones joined by ", ". */
static char *headers_json(const struct exchange *exchange) {
    cJSON *headers = cJSON_CreateObject();
    struct bytes text = {0};

    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, collect_header, headers);
    json_print(&text, headers);
    cJSON_Delete(headers);
    return bytes_take(&text);
}

void recorder_keep(struct exchange *exchange) {
    struct record *record = memory_new(sizeof *record);
    crypto_hash_sha256_state digest = exchange->digest;

    exchange->recorded = true;
    record->time = clock_unix();
    record->method = memory_text(exchange->method);
    record->target = memory_text(exchange->target);
    record->headers = headers_json(exchange);
    record->complete = exchange->complete;
    record->body_length = exchange->body_length;
    crypto_hash_sha256_final(&digest, record->digest);
    if (exchange->body.length == exchange->body_length) {
        record->body_kept = exchange->body.length;
        record->body = memory_new(record->body_kept + 1);
        memcpy(record->body, record->body_kept == 0 ? "" : exchange->body.data, record->body_kept);
    }
    record->cost =
        sizeof *record + strlen(record->target) + strlen(record->headers) + record->body_kept + 128;
    pthread_mutex_lock(&recorder.lock);
    record->id = ++recorder.last_id;
    *(recorder.last == NULL ? &recorder.first : &recorder.last->next) = record;
    recorder.last = record;
    recorder.cost += record->cost;
    while (recorder.cost > recorder.limit && recorder.first != recorder.last) {
        drop_first();
    }
    pthread_mutex_unlock(&recorder.lock);
}

static bool record_matches(const struct record *record, const struct record_filter *filter) {
    return text_contains(record->target, filter->path) &&
           text_matches(record->method, filter->method);
}

static void print_text(struct bytes *out, const char *name, const char *text, size_t length) {
    bytes_format(out, ",\"%s\":", name);
    json_quote(out, text, length);
}

/* A body is printed as text if it is valid UTF-8 and not too long. */
static bool body_is_text(const struct record *record) {
    return record->body != NULL && record->body_kept <= BODY_SHOWN_MAX &&
           utf8_valid(record->body, record->body_kept);
}

static void record_print(struct bytes *out, const struct record *record) {
    size_t path = strcspn(record->target, "?");
    const char *query = record->target[path] == '?' ? record->target + path + 1 : "";
    char hex[2 * crypto_hash_sha256_BYTES + 1];

    bytes_hex(hex, record->digest, sizeof record->digest);
    bytes_format(out, "{\"id\":%llu,\"time\":%llu", (unsigned long long)record->id,
                 (unsigned long long)record->time);
    print_text(out, "method", record->method, strlen(record->method));
    print_text(out, "path", record->target, path);
    print_text(out, "query", query, strlen(query));
    bytes_format(out, ",\"headers\":%s,\"complete\":%s,\"bodyLength\":%llu,\"bodySha256\":\"%s\"",
                 record->headers, record->complete ? "true" : "false",
                 (unsigned long long)record->body_length, hex);
    if (body_is_text(record)) {
        print_text(out, "body", record->body, record->body_kept);
    } else {
        bytes_text(out, ",\"body\":null");
    }
    bytes_text(out, "}");
}

static uint64_t count_matches(const struct record_filter *filter) {
    uint64_t count = 0;

    for (const struct record *at = recorder.first; at != NULL; at = at->next) {
        count += record_matches(at, filter);
    }
    return count;
}

void recorder_list(struct bytes *out, const struct record_filter *filter) {
    const char *comma = "[";
    uint64_t skip;

    pthread_mutex_lock(&recorder.lock);
    skip = filter->last == 0 ? 0 : count_matches(filter);
    skip = skip > filter->last ? skip - filter->last : 0;
    for (const struct record *at = recorder.first; at != NULL; at = at->next) {
        if (record_matches(at, filter) && (skip == 0 || skip-- == 0)) {
            bytes_text(out, comma);
            record_print(out, at);
            comma = ",";
        }
    }
    bytes_text(out, *comma == '[' ? "[]" : "]");
    pthread_mutex_unlock(&recorder.lock);
}

uint64_t recorder_count(const struct record_filter *filter) {
    uint64_t count;

    pthread_mutex_lock(&recorder.lock);
    count = count_matches(filter);
    pthread_mutex_unlock(&recorder.lock);
    return count;
}

static const struct record *record_find(uint64_t id, const struct record_filter *filter) {
    const struct record *found = NULL;

    for (const struct record *at = recorder.first; at != NULL; at = at->next) {
        if (id == 0 ? record_matches(at, filter) : at->id == id) {
            found = at;
        }
    }
    return found;
}

bool recorder_show(struct bytes *out, uint64_t id, const struct record_filter *filter) {
    const struct record *record;

    pthread_mutex_lock(&recorder.lock);
    record = record_find(id, filter);
    if (record != NULL) {
        record_print(out, record);
    }
    pthread_mutex_unlock(&recorder.lock);
    return record != NULL;
}

bool recorder_body(struct bytes *out, uint64_t id, const struct record_filter *filter) {
    const struct record *record;
    bool kept;

    pthread_mutex_lock(&recorder.lock);
    record = record_find(id, filter);
    kept = record != NULL && record->body != NULL;
    if (kept) {
        bytes_append(out, record->body, record->body_kept);
    }
    pthread_mutex_unlock(&recorder.lock);
    return kept;
}

void recorder_clear(void) {
    pthread_mutex_lock(&recorder.lock);
    while (recorder.first != NULL) {
        drop_first();
    }
    pthread_mutex_unlock(&recorder.lock);
}
