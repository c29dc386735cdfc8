/* Answers and failures of a request. */
#include "web/reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "web/cpu_limit.h"
#include "web/transport.h"

static const struct {
    int status;
    const char *error, *reason;
} catalogue[] = {
    [INVALID] = {400, "VALIDATION_ERROR", "Bad Request"},
    [UNAUTHORIZED] = {401, "UNAUTHORIZED", "Unauthorized"},
    [FORBIDDEN] = {403, "FORBIDDEN", "Forbidden"},
    [PLAN_EXPIRED] = {403, "PLAN_EXPIRED", "Forbidden"},
    [PLAN_REQUIRED] = {403, "DEVELOPER_PLAN_REQUIRED", "Forbidden"},
    [NOT_FOUND] = {404, "NOT_FOUND", "Not Found"},
    [METHOD_NOT_ALLOWED] = {405, "NOT_FOUND", "Method Not Allowed"},
    [TIMED_OUT] = {408, "VALIDATION_ERROR", "Request Timeout"},
    [CONFLICT] = {409, "VALIDATION_ERROR", "Conflict"},
    [LENGTH_REQUIRED] = {411, "VALIDATION_ERROR", "Length Required"},
    [TOO_LARGE] = {413, "VALIDATION_ERROR", "Content Too Large"},
    [UNSUPPORTED_TYPE] = {415, "VALIDATION_ERROR", "Unsupported Media Type"},
    [RANGE_NOT_SATISFIABLE] = {416, "VALIDATION_ERROR", "Range Not Satisfiable"},
    [UNPROCESSABLE] = {422, "VALIDATION_ERROR", "Unprocessable Content"},
    [RATE_LIMITED] = {429, "RATE_LIMITED", "Too Many Requests"},
    [INTERNAL] = {500, "INTERNAL_ERROR", "Internal Server Error"},
    [BAD_GATEWAY] = {502, "INTERNAL_ERROR", "Bad Gateway"},
    [UNAVAILABLE] = {503, "INTERNAL_ERROR", "Service Unavailable"},
};

void reply_write_failures(struct json_writer *out, const char *name) {
    json_write_array(out, name);
    for (size_t i = 1; i < sizeof catalogue / sizeof *catalogue; i++) {
        json_write_object(out, NULL);
        json_write_integer(out, "status", catalogue[i].status);
        json_write_text(out, "error", catalogue[i].error);
        json_write_end(out);
    }
    json_write_end(out);
}

int reply_status(enum failure_code code) {
    return catalogue[code].status;
}

const char *reply_error(enum failure_code code) {
    return catalogue[code].error;
}

int fail_at(struct request *rq, const struct failure *failure, const char *format, ...) {
    if (rq->failure.code)
        return -1;
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    rq->failure = *failure;
    rq->failure.message = arena_copy(rq->arena, slice_of(message));
    return -1;
}

/* Whether JSON holds no details: null, "", {} or [], with any white space in it. */
static bool is_empty(struct slice json) {
    static const char *const empty[] = {"null", "\"\"", "{}", "[]"};
    char text[8];
    size_t n = 0;
    if (!json.n)
        return true;
    for (struct slice token; (token = json_cut_token(&json)).n; n += token.n) {
        if (token.n >= sizeof text - n)
            return false;
        memcpy(text + n, token.p, token.n);
    }
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        if (slice_equal((struct slice){text, n}, slice_of(empty[i])))
            return true;
    return false;
}

void request_start_issues(const struct request *rq, struct issues *issues) {
    issues_start(issues, rq->arena);
    issues->is_strict = rq->is_strict;
}

int fail_on_issues(struct request *rq, struct issues *issues) {
    if (!issues->count)
        return 0;
    struct slice list = issues_written(issues);
    if (issues->count == 1)
        return fail_with_details(rq, INVALID, list, "%s.", issues->first);
    return fail_with_details(rq, INVALID, list, "%s (and %zu more: see details).", issues->first,
                             issues->count - 1);
}

int fail_on_issue(struct request *rq, const char *path, const char *code, const char *problem) {
    struct issues issues;
    request_start_issues(rq, &issues);
    issues_add(&issues, path, code, "%s", problem);
    return fail_on_issues(rq, &issues);
}

int reply_data(struct request *rq, struct slice data) {
    rq->reply.status = 200;
    rq->reply.content_type = REPLY_JSON;
    rq->reply.pieces[0] = SLICE("{\"success\":true,\"data\":");
    rq->reply.pieces[1] = data;
    rq->reply.pieces[2] = SLICE("}");
    return 0;
}

void reply_start(struct request *rq, struct json_writer *out) {
    json_write_start_object(out, rq->arena);
}

int reply_object(struct request *rq, struct json_writer *out) {
    return reply_data(rq, json_written(out));
}

int reply_accepted(struct request *rq, struct slice data) {
    reply_data(rq, data);
    rq->reply.status = 202;
    return 0;
}

int reply_body(struct request *rq, int status, const char *content_type, struct slice body) {
    rq->reply.status = status;
    rq->reply.content_type = content_type;
    rq->reply.pieces[0] = body;
    rq->reply.pieces[1] = rq->reply.pieces[2] = (struct slice){NULL, 0};
    return 0;
}

void reply_header(struct request *rq, const char *name, const char *value) {
    struct buffer *headers = &rq->reply.headers;
    buffer_printf(headers, "%s: ", name);
    for (const char *p = value; *p; p++)
        if ((unsigned char)*p >= 0x20 && *p != 0x7f)
            buffer_add_char(headers, *p);
    buffer_add_text(headers, "\r\n");
}

/* The message for the client. That of a 5xx of the gateway itself ends with the request's id, by
 * which an operator finds the log line. */
static const char *client_message(struct request *rq) {
    const struct failure *failure = &rq->failure;
    if (catalogue[failure->code].status < 500 || failure->is_verbatim)
        return failure->message;
    return arena_printf(rq->arena, "%s (X-Request-Id: %s)", failure->message, rq->id);
}

/* The error envelope (spec 2.1). */
static struct slice envelope(struct request *rq) {
    const struct failure *failure = &rq->failure;
    struct buffer out = buffer_in(rq->arena);
    struct json_writer message;
    json_write_start(&message, rq->arena);
    json_write_text(&message, NULL, client_message(rq));
    buffer_printf(&out, REPLY_ERROR("%s"), catalogue[failure->code].error);
    buffer_add_slice(&out, json_written(&message));
    if (!is_empty(failure->details)) {
        buffer_add_text(&out, ",\"details\":");
        buffer_add_slice(&out, failure->details);
    }
    buffer_add_char(&out, '}');
    return buffer_slice(&out);
}

/* A browser opens no dialog for a scheme that it does not know. */
void reply_challenge(struct request *rq) {
    const struct guard *guard = rq->route ? rq->route->guard : NULL;
    if (guard && guard->requires & (REQUIRES_EITHER | REQUIRES_TOKEN))
        reply_header(rq, "WWW-Authenticate", "Bearer realm=\"switchboard\"");
    else if (rq->route && (!guard || guard->requires & REQUIRES_SESSION))
        reply_header(rq, "WWW-Authenticate", "Session realm=\"switchboard\"");
}

int reply_settle(struct request *rq) {
    const struct failure *failure = &rq->failure;
    if (!failure->code || rq->reply.has_envelope)
        return rq->reply.status;
    rq->reply.has_envelope = true;
    if (rq->settle)
        rq->settle(rq);
    else
        reply_body(rq, catalogue[failure->code].status, REPLY_JSON, envelope(rq));
    if (failure->code == UNAUTHORIZED)
        reply_challenge(rq);
    return rq->reply.status;
}

struct slice reply_bytes(struct request *rq) {
    struct buffer whole = buffer_in(rq->arena);
    for (size_t i = 0; i < 3; i++)
        buffer_add_slice(&whole, rq->reply.pieces[i]);
    return buffer_slice(&whole);
}

static const char *reason(int status) {
    static const struct {
        int status;
        const char *reason;
    } others[] = {
        {200, "OK"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {304, "Not Modified"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].status == status)
            return others[i].reason;
    for (size_t i = 1; i < sizeof catalogue / sizeof *catalogue; i++)
        if (catalogue[i].status == status)
            return catalogue[i].reason;
    return "Status";
}

/* Returns the header block (RFC 3875 6.3). A negative `length` means unknown. */
static struct slice head(struct request *rq, int64_t length) {
    struct buffer out = buffer_in(rq->arena);
    const struct reply *reply = &rq->reply;
    buffer_printf(&out, REPLY_STATUS("%d", "%s"), reply->status, reason(reply->status));
    if (reply->content_type)
        buffer_printf(&out, REPLY_TYPE("%s"), reply->content_type);
    if (length >= 0 && reply->status != 204 && reply->status != 304)
        buffer_printf(&out, REPLY_LENGTH "%" PRId64 "\r\n", length);
    buffer_printf(&out, REPLY_COMMON "%s\r\n", rq->id);
    buffer_add_slice(&out, buffer_slice(&reply->headers));
    buffer_add_text(&out, "\r\n");
    return buffer_slice(&out);
}

size_t reply_write(struct request *rq) {
    const struct slice *body = rq->reply.pieces;
    size_t length = body[0].n + body[1].n + body[2].n;
    struct slice all[4] = {head(rq, (int64_t)length), body[0], body[1], body[2]};
    transport_write(all, rq->head ? 1 : 4);
    return length;
}

/* Writes bytes of a streamed answer. */
static int write_stream(struct request *rq, struct slice bytes) {
    request_release(rq);
    return transport_write(&bytes, 1);
}

int reply_stream(struct request *rq, int status, const char *content_type, int64_t length) {
    rq->reply.status = status;
    rq->reply.content_type = content_type;
    rq->reply.streamed = true;
    return write_stream(rq, head(rq, length));
}

int reply_more(struct request *rq, struct slice bytes) {
    rq->reply.bytes += bytes.n;
    cpu_limit_start();
    return write_stream(rq, bytes);
}
