#include "faults.h"

#include "graph_error.h"
#include "messages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    uint64_t last_id;
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fault_free(struct fault *fault) {
    json_fields_release(fault, fault_fields);
    json_fields_release(fault, match_fields);
    bytes_release(&fault->body);
    bytes_release(&fault->headers);
    free(fault);
}

static char *read_kind(struct fault *fault, const cJSON *json) {
    const char *name = json_text(json, "kind");

    if (name == NULL) {
        return NULL;
    }
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        if (strcmp(kind_names[kind], name) == 0) {
            fault->kind = (enum fault_kind)kind;
            return NULL;
        }
    }
    return memory_format("kind '%s' is not known", name);
}

static char *read_body(struct fault *fault, const cJSON *json) {
    const char *text = json_text(json, "body");
    const char *base64 = json_text(json, "bodyBase64");

    if (text != NULL) {
        bytes_text(&fault->body, text);
    } else if (base64 != NULL) {
        size_t room = strlen(base64);
        size_t length;

        if (sodium_base642bin((unsigned char *)bytes_room(&fault->body, room), room, base64, room,
                              NULL, &length, NULL, sodium_base64_VARIANT_ORIGINAL) != 0) {
            return memory_text("bodyBase64 is not Base64");
        }
        bytes_commit(&fault->body, length);
    }
    fault->has_body = text != NULL || base64 != NULL;
    return NULL;
}

static char *read_headers(struct fault *fault, const cJSON *json) {
    const cJSON *header;

    cJSON_ArrayForEach(header, cJSON_GetObjectItemCaseSensitive(json, "headers")) {
        if (!cJSON_IsString(header) || header->string == NULL ||
            strpbrk(header->valuestring, "\r\n") != NULL) {
            return memory_text("headers must be an object of one-line strings");
        }
        bytes_format(&fault->headers, "%s: %s\n", header->string, header->valuestring);
    }
    return NULL;
}

static char *fault_read(struct fault *fault, const cJSON *json) {
    const cJSON *match = cJSON_GetObjectItemCaseSensitive(json, "match");
    const cJSON *seconds = cJSON_GetObjectItemCaseSensitive(json, "seconds");
    char *problem = json_fill(fault, fault_fields, json);

    if (problem == NULL && match != NULL) {
        problem = json_fill(fault, match_fields, match);
    }
    if (problem == NULL) {
        problem = read_kind(fault, json);
    }
    if (problem == NULL) {
        problem = read_body(fault, json);
    }
    if (problem == NULL) {
        problem = read_headers(fault, json);
    }
    if (cJSON_IsNumber(seconds) && seconds->valuedouble > 0) {
        fault->milliseconds = (uint64_t)(seconds->valuedouble * 1000);
    }
    if (problem == NULL && fault->status != 0 && (fault->status < 200 || fault->status > 599)) {
        problem = memory_text("status must be 200 to 599");
    }
    fault->has_code = cJSON_HasObjectItem(json, "code");
    fault->has_bytes = cJSON_HasObjectItem(json, "bytes");
    return problem;
}

char *fault_add(const cJSON *json, uint64_t *id) {
    struct fault *fault = memory_new(sizeof *fault);
    struct fault **link = &faults.first;
    char *problem;

    fault->times = 1;
    fault->references = 1;
    problem = fault_read(fault, json);
    if (problem != NULL) {
        fault_free(fault);
        return problem;
    }
    pthread_mutex_lock(&faults.lock);
    fault->id = *id = ++faults.last_id;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = fault;
    pthread_mutex_unlock(&faults.lock);
    return NULL;
}

static void drop_locked(struct fault *fault) {
    if (--fault->references == 0) {
        fault_free(fault);
    }
}

void fault_drop(struct fault *fault) {
    if (fault != NULL) {
        pthread_mutex_lock(&faults.lock);
        drop_locked(fault);
        pthread_mutex_unlock(&faults.lock);
    }
}

void fault_clear(void) {
    pthread_mutex_lock(&faults.lock);
    while (faults.first != NULL) {
        struct fault *gone = faults.first;

        faults.first = gone->next;
        drop_locked(gone);
    }
    pthread_mutex_unlock(&faults.lock);
}

void fault_list(struct bytes *out) {
    pthread_mutex_lock(&faults.lock);
    bytes_text(out, "[");
    for (const struct fault *fault = faults.first; fault != NULL; fault = fault->next) {
        bytes_format(out, "%s{\"id\":%llu,\"kind\":\"%s\",\"hits\":%llu,\"match\":",
                     fault == faults.first ? "" : ",", (unsigned long long)fault->id,
                     kind_names[fault->kind], (unsigned long long)fault->hits);
        json_fields_print(out, fault, match_fields);
        bytes_text(out, ",\"settings\":");
        json_fields_print(out, fault, fault_fields);
        bytes_text(out, "}");
    }
    bytes_text(out, "]");
    pthread_mutex_unlock(&faults.lock);
}

static bool acts_early(const struct fault *fault) {
    return fault->early || fault->kind == FAULT_RESET_BEFORE;
}

static bool hits_recipient(const struct fault *fault, struct exchange *exchange) {
    return fault->recipient == NULL || message_is_for(exchange->json, fault->recipient);
}

static bool fault_hits(const struct fault *fault, struct exchange *exchange, bool early) {
    return acts_early(fault) == early && text_matches(exchange->method, fault->method) &&
           text_contains(exchange->target, fault->path) &&
           text_matches(exchange_token(exchange), fault->token) &&
           hits_recipient(fault, exchange) && text_contains(exchange->body.data, fault->within);
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

struct fault *fault_take(struct exchange *exchange, bool early) {
    struct fault *taken = NULL;

    pthread_mutex_lock(&faults.lock);
    for (struct fault **link = &faults.first; *link != NULL; link = &(*link)->next) {
        struct fault *fault = *link;

        if (fault_hits(fault, exchange, early) && count_hit(link)) {
            taken = fault;
            break;
        }
    }
    pthread_mutex_unlock(&faults.lock);
    return taken;
}

bool fault_replaces(const struct fault *fault) {
    return fault->status != 0 || fault->has_code || fault->has_body ||
           fault->kind == FAULT_GARBAGE || fault->kind == FAULT_HTML || fault->kind == FAULT_HUGE;
}

static ssize_t read_huge(void *state, uint64_t position, char *out, size_t room) {
    static const char head[] = "{\"data\":[],\"filler\":\"";
    uint64_t length = *(uint64_t *)state;

    for (size_t i = 0; i < room; i++, position++) {
        if (position < sizeof head - 1) {
            out[i] = head[position];
        } else {
            out[i] = position + 2 == length ? '"' : position + 1 == length ? '}' : 'x';
        }
    }
    return (ssize_t)room;
}

static void answer_huge(const struct fault *fault, struct reply *reply) {
    uint64_t *length = memory_new(sizeof *length);

    *length = fault->has_bytes && fault->bytes > 64 ? fault->bytes : 64 << 20;
    reply->source = (struct source){*length, read_huge, free, length};
}

static const char html_page[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Error</title></head>\n"
    "<body><h1>Sorry, something went wrong.</h1>\n"
    "<p>We're working on it and we'll get it fixed as soon as we can.</p></body></html>\n";

void fault_answer(struct exchange *exchange) {
    static const char garbage[] = "{\"messages\":[{\"id\":\xff\xfe\x00 wamid\"]]\x1f\x8b";
    const struct fault *fault = exchange->fault;
    struct reply *reply = &exchange->reply;

    if (fault->has_code) {
        reply_error_as(exchange, (int)fault->code, (int)fault->subcode, fault->message,
                       fault->details);
    } else {
        reply->status = fault->kind == FAULT_HTML ? 502 : 200;
        reply->type = "application/json; charset=UTF-8";
    }
    if (fault->status != 0) {
        reply->status = (int)fault->status;
    }
    if (fault->has_body) {
        bytes_release(&reply->body);
        bytes_append(&reply->body, fault->body.data, fault->body.length);
    } else if (fault->kind == FAULT_HTML) {
        reply->type = "text/html; charset=utf-8";
        bytes_text(&reply->body, html_page);
    } else if (fault->kind == FAULT_GARBAGE) {
        bytes_append(&reply->body, garbage, sizeof garbage - 1);
    } else if (fault->kind == FAULT_HUGE) {
        answer_huge(fault, reply);
    }
}
