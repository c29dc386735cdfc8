#include "wire/faults.h"

#include <inttypes.h>
#include <pthread.h>

#include "base/crypto.h"
#include "text/json_fields.h"
#include "text/memory.h"
#include "text/text.h"
#include "wire/addressee.h"
#include "wire/graph_error.h"

static const char *const kind_names[] = {
    [FAULT_NONE] = "none",         [FAULT_HANG] = "hang",
    [FAULT_RESET] = "reset",       [FAULT_RESET_BEFORE] = "reset_before",
    [FAULT_DRIP] = "drip",         [FAULT_GARBAGE] = "garbage",
    [FAULT_HTML] = "html",         [FAULT_HUGE] = "huge",
    [FAULT_TRUNCATE] = "truncate", [FAULT_CLOSE_MID_BODY] = "close_mid_body",
    [FAULT_DELAY] = "delay",
};

enum { KIND_COUNT = sizeof kind_names / sizeof *kind_names };

static const struct json_field fault_fields[] = {
    {"id", JSON_ELSEWHERE, 0},
    {"hits", JSON_ELSEWHERE, 0},
    {"match", JSON_ELSEWHERE, 0},
    {"kind", JSON_ELSEWHERE, 0},
    {"headers", JSON_ELSEWHERE, 0},
    {"body", JSON_ELSEWHERE, 0},
    {"bodyBase64", JSON_ELSEWHERE, 0},
    {"seconds", JSON_ELSEWHERE, 0},
    {"times", JSON_NUMBER, offsetof(struct fault, times)},
    {"skip", JSON_NUMBER, offsetof(struct fault, skip)},
    {"early", JSON_FLAG, offsetof(struct fault, early)},
    {"status", JSON_NUMBER, offsetof(struct fault, status)},
    {"code", JSON_NUMBER, offsetof(struct fault, code)},
    {"subcode", JSON_NUMBER, offsetof(struct fault, subcode)},
    {"message", JSON_TEXT, offsetof(struct fault, message)},
    {"details", JSON_TEXT, offsetof(struct fault, details)},
    {"ms", JSON_NUMBER, offsetof(struct fault, milliseconds)},
    {"bytes", JSON_NUMBER, offsetof(struct fault, bytes)},
    {NULL, JSON_ELSEWHERE, 0},
};

static const struct json_field match_fields[] = {
    {"method", JSON_TEXT, offsetof(struct fault, method)},
    {"path", JSON_TEXT, offsetof(struct fault, path)},
    {"recipient", JSON_TEXT, offsetof(struct fault, recipient)},
    {"token", JSON_TEXT, offsetof(struct fault, token)},
    {"body", JSON_TEXT, offsetof(struct fault, within)},
    {NULL, JSON_ELSEWHERE, 0},
};

static struct {
    pthread_mutex_t lock;
    struct fault *first;
    int64_t last_id;
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *read_kind(struct fault *fault, const cJSON *json) {
    const char *name = json_text(json, "kind");
    if (!name)
        return NULL;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        if (strcmp(kind_names[kind], name) == 0) {
            fault->kind = (enum fault_kind)kind;
            return NULL;
        }
    }
    return arena_printf(fault->arena, "kind '%s' is not known", name);
}

static const char *read_body(struct fault *fault, const cJSON *json) {
    const char *text = json_text(json, "body");
    const char *base64 = json_text(json, "bodyBase64");
    if (text)
        fault->body = slice_of(text_copy(fault->arena, text));
    else if (base64)
        fault->body = crypto_unbase64(fault->arena, slice_of(base64));
    return base64 && !fault->body.p ? "bodyBase64 is not Base64" : NULL;
}

static const char *read_headers(struct fault *fault, const cJSON *json) {
    const cJSON *header;
    cJSON_ArrayForEach(header, json_get(json, "headers")) {
        if (!cJSON_IsString(header) || !header->string || strpbrk(header->valuestring, "\r\n"))
            return "headers must be an object of one-line strings";
        buffer_printf(&fault->headers, "%s: %s\n", header->string, header->valuestring);
    }
    return NULL;
}

static const char *fault_read(struct fault *fault, const cJSON *json) {
    static const char *(*const parts[])(struct fault *, const cJSON *) = {read_kind, read_body,
                                                                          read_headers};
    const cJSON *match = json_get(json, "match");
    const cJSON *seconds = json_get(json, "seconds");
    const char *problem = json_fill(fault->arena, fault, fault_fields, json);
    if (!problem && match)
        problem = json_fill(fault->arena, fault, match_fields, match);
    for (size_t i = 0; !problem && i < sizeof parts / sizeof *parts; i++)
        problem = parts[i](fault, json);
    if (!problem && fault->status != 0 && (fault->status < 200 || fault->status > 599))
        problem = "status must be 200 to 599";
    if (cJSON_IsNumber(seconds) && seconds->valuedouble > 0)
        fault->milliseconds = (int64_t)(seconds->valuedouble * 1000);
    fault->has_code = cJSON_HasObjectItem(json, "code");
    fault->has_bytes = cJSON_HasObjectItem(json, "bytes");
    return problem;
}

static struct fault *fault_new(void) {
    struct arena *arena = memory_open();
    struct fault *fault = arena_alloc(arena, sizeof *fault);
    *fault =
        (struct fault){.arena = arena, .times = 1, .references = 1, .headers = buffer_in(arena)};
    return fault;
}

const char *fault_add(struct arena *arena, const cJSON *json, int64_t *id) {
    struct fault *fault = fault_new();
    const char *problem = fault_read(fault, json);
    if (problem) {
        problem = arena_copy(arena, slice_of(problem));
        memory_close(fault->arena);
        return problem;
    }
    pthread_mutex_lock(&faults.lock);
    struct fault **link = &faults.first;
    fault->id = *id = ++faults.last_id;
    while (*link)
        link = &(*link)->next;
    *link = fault;
    pthread_mutex_unlock(&faults.lock);
    return NULL;
}

static void drop_locked(struct fault *fault) {
    if (--fault->references == 0)
        memory_close(fault->arena);
}

void fault_drop(struct fault *fault) {
    if (!fault)
        return;
    pthread_mutex_lock(&faults.lock);
    drop_locked(fault);
    pthread_mutex_unlock(&faults.lock);
}

void fault_clear(void) {
    pthread_mutex_lock(&faults.lock);
    while (faults.first) {
        struct fault *gone = faults.first;
        faults.first = gone->next;
        drop_locked(gone);
    }
    pthread_mutex_unlock(&faults.lock);
}

void fault_list(struct buffer *out) {
    pthread_mutex_lock(&faults.lock);
    buffer_add_text(out, "[");
    for (const struct fault *fault = faults.first; fault; fault = fault->next) {
        buffer_printf(out, "%s{\"id\":%" PRId64 ",\"kind\":\"%s\",\"hits\":%" PRId64 ",\"match\":",
                      fault == faults.first ? "" : ",", fault->id, kind_names[fault->kind],
                      fault->hits);
        json_fields_print(out, fault, match_fields);
        buffer_add_text(out, ",\"settings\":");
        json_fields_print(out, fault, fault_fields);
        buffer_add_text(out, "}");
    }
    buffer_add_text(out, "]");
    pthread_mutex_unlock(&faults.lock);
}

static bool acts_early(const struct fault *fault) {
    return fault->early || fault->kind == FAULT_RESET_BEFORE;
}

static bool fault_hits(const struct fault *fault, const struct exchange *exchange, bool early) {
    return acts_early(fault) == early && text_matches(exchange->method, fault->method) &&
           text_contains(exchange->target, fault->path) &&
           text_matches(exchange_token(exchange), fault->token) &&
           (!fault->recipient || send_is_for(exchange->arena, exchange->json, fault->recipient)) &&
           text_contains(exchange->body.p, fault->within);
}

/* Counts a hit and removes a fault that is used up. Returns false if the request is one to skip. */
static bool count_hit(struct fault **link) {
    struct fault *fault = *link;
    if (fault->skip > 0) {
        fault->skip--;
        return false;
    }
    fault->hits++;
    fault->references++;
    if (fault->times > 0 && --fault->times == 0) {
        *link = fault->next;
        drop_locked(fault);
    }
    return true;
}

struct fault *fault_take(const struct exchange *exchange, bool early) {
    struct fault *taken = NULL;
    pthread_mutex_lock(&faults.lock);
    for (struct fault **link = &faults.first; *link; link = &(*link)->next) {
        struct fault *fault = *link;
        if (fault_hits(fault, exchange, early) && count_hit(link)) {
            taken = fault;
            break;
        }
    }
    pthread_mutex_unlock(&faults.lock);
    return taken;
}

/* --- Answers --- */

bool fault_replaces(const struct fault *fault) {
    return fault->status != 0 || fault->has_code || fault->body.p || fault->kind == FAULT_GARBAGE ||
           fault->kind == FAULT_HTML || fault->kind == FAULT_HUGE;
}

static ssize_t read_huge(void *state, int64_t position, char *out, size_t room) {
    static const char head[] = "{\"data\":[],\"filler\":\"";
    int64_t length = *(const int64_t *)state;
    for (size_t i = 0; i < room; i++, position++)
        if (position < (int64_t)sizeof head - 1)
            out[i] = head[position];
        else
            out[i] = position + 2 == length ? '"' : position + 1 == length ? '}' : 'x';
    return (ssize_t)room;
}

static void answer_huge(const struct fault *fault, struct reply *reply) {
    int64_t *length = arena_alloc(reply->arena, sizeof *length);
    *length = fault->has_bytes && fault->bytes > 64 ? fault->bytes : 64 << 20;
    reply->source = (struct source){.length = *length, .read = read_huge, .state = length};
}

static const char html_page[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Error</title></head>\n"
    "<body><h1>Sorry, something went wrong.</h1>\n"
    "<p>We're working on it and we'll get it fixed as soon as we can.</p></body></html>\n";

void fault_answer(struct exchange *exchange) {
    const struct fault *fault = exchange->fault;
    struct reply *reply = &exchange->reply;
    if (fault->has_code) {
        reply_error_as(exchange, (int)fault->code, (int)fault->subcode, fault->message,
                       fault->details);
    } else {
        reply->status = fault->kind == FAULT_HTML ? 502 : 200;
        reply->type = "application/json; charset=UTF-8";
    }
    if (fault->status != 0)
        reply->status = (int)fault->status;
    if (fault->body.p) {
        reply->body.n = 0;
        buffer_add_slice(&reply->body, fault->body);
    } else if (fault->kind == FAULT_HTML) {
        reply->type = "text/html; charset=utf-8";
        buffer_add_text(&reply->body, html_page);
    } else if (fault->kind == FAULT_GARBAGE) {
        buffer_add_slice(&reply->body,
                         SLICE("{\"messages\":[{\"id\":\xff\xfe\x00 wamid\"]]\x1f\x8b"));
    } else if (fault->kind == FAULT_HUGE) {
        answer_huge(fault, reply);
    }
}
