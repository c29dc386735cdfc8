#include "wire/fault_answer.h"

#include "wire/graph_error.h"

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
