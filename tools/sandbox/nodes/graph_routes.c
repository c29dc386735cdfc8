#include "nodes/graph_routes.h"

#include <stdio.h>

#include "nodes/edges.h"
#include "nodes/media_upload.h"
#include "state/access_token.h"
#include "state/account.h"
#include "state/flow_asset.h"
#include "state/media_url.h"
#include "state/sandbox.h"
#include "wire/faults.h"
#include "wire/graph_error.h"
#include "wire/request_body.h"

enum { VERSION_OLDEST = 21, VERSION_NEWEST = 26 };

/* Reads a version, v21.0 to v26.0; an expired version is served as the oldest valid one, and so is
 * a path without version (""). Returns 0 if there is no such version. */
static int version_read(const char *segment) {
    int major;
    int minor;
    int length = 0;
    if (*segment == '\0')
        return VERSION_OLDEST;
    if (sscanf(segment, "v%d.%d%n", &major, &minor, &length) != 2 || segment[length] != '\0' ||
        minor != 0 || major < 1 || major > VERSION_NEWEST)
        return 0;
    return major < VERSION_OLDEST ? VERSION_OLDEST : major;
}

static bool version_check(struct exchange *exchange, int version) {
    if (version != 0)
        return true;
    reply_error(exchange, 2500, "Unknown path components: %s",
                exchange->path + 1 + strcspn(exchange->path + 1, "/"));
    return false;
}

static bool token_answer(struct exchange *exchange) {
    static const char *const expired =
        "Error validating access token: Session has expired on Saturday, 24-Oct-26 05:00:00 PDT. "
        "The current time is Saturday, 24-Oct-26 05:20:17 PDT.";
    static const char *const revoked =
        "Error validating access token: The session has been invalidated because the user changed "
        "their password or the session was ended for security reasons.";
    const char *token = exchange_token(exchange);
    if (!token && !exchange_header(exchange, "Authorization")) {
        reply_error_as(exchange, 2500, 0, NULL, NULL);
        return false;
    }
    if (exchange_tokens_differ(exchange)) {
        reply_error_as(exchange, 190, 0, "The request has two different access tokens.", NULL);
        return false;
    }
    switch (token ? token_check(token) : TOKEN_UNKNOWN) {
    case TOKEN_VALID:
    case TOKEN_APP: return true;
    case TOKEN_EXPIRED: reply_error_as(exchange, 190, 463, expired, NULL); return false;
    case TOKEN_REVOKED: reply_error_as(exchange, 190, 460, revoked, NULL); return false;
    case TOKEN_UNKNOWN: break;
    }
    reply_error_as(exchange, 190, 0, NULL, NULL);
    return false;
}

/* Adds the headers of every answer of the platform. */
static void add_graph_headers(struct exchange *exchange, int version) {
    const char *token = exchange_token(exchange);
    const struct account *account = token ? account_by_token(token) : NULL;
    struct buffer *out = &exchange->reply.headers;
    char trace[TRACE_ID_SIZE];
    trace_id(trace);
    buffer_printf(out, "facebook-api-version: v%d.0\n", version == 0 ? VERSION_OLDEST : version);
    buffer_printf(out, "x-fb-trace-id: %s\n", trace);
    trace_id(trace);
    buffer_printf(out, "x-fb-request-id: %s\n", trace);
    trace_id(trace);
    buffer_printf(out, "x-fb-debug: %s%s%s==\n", trace, trace, trace);
    buffer_add_text(out, "x-app-usage: {\"call_count\":1,\"total_cputime\":1,\"total_time\":1}\n");
    if (account)
        buffer_printf(out,
                      "x-business-use-case-usage: {\"%s\":[{\"type\":\"whatsapp\",\"call_count\":1,"
                      "\"total_cputime\":1,\"total_time\":1,"
                      "\"estimated_time_to_regain_access\":0}]}\n",
                      account->waba_id);
}

static bool is_upload(const struct exchange *exchange) {
    return strcmp(exchange->method, "POST") == 0 && exchange->segment_count == 3 &&
           strcmp(exchange_segment(exchange, 2), "media") == 0;
}

/* Whether the request may change the state: those with other methods than GET, and the field
 * preview.invalidate(true). Sends only read it, so that they do not wait for each other. */
static bool is_change(const struct exchange *exchange) {
    const char *fields = exchange_parameter(exchange, "fields");
    const char *edge = exchange_segment(exchange, 2);
    if (fields && strstr(fields, "invalidate"))
        return true;
    return strcmp(exchange->method, "GET") != 0 && strcmp(exchange->method, "HEAD") != 0 &&
           strcmp(edge, "messages") != 0 && strcmp(edge, "marketing_messages") != 0;
}

void graph_prepare(struct exchange *exchange) {
    if (is_upload(exchange))
        exchange->upload = upload_new(exchange->arena, exchange_header(exchange, "Content-Type"));
}

void graph_feed(struct exchange *exchange, struct slice piece) {
    upload_feed(exchange->upload, piece);
}

void graph_read(struct exchange *exchange) {
    request_body_read(exchange);
    if (exchange->upload)
        exchange->form_token = upload_token(exchange->upload);
}

void graph_release(struct exchange *exchange) {
    if (exchange->upload)
        upload_end(exchange->upload);
}

static void platform_answer(struct exchange *exchange, int version) {
    if (exchange->body_length > BODY_MAX && !exchange->upload) {
        reply_error(exchange, 1, "The request body is too large.");
        exchange->reply.status = 413;
    } else if (version_check(exchange, version) && token_answer(exchange)) {
        graph_dispatch(exchange);
    }
}

void graph_answer(struct exchange *exchange) {
    int version = version_read(exchange_segment(exchange, 0));
    exchange->reply.status = 200;
    exchange->reply.type = "application/json; charset=UTF-8";
    (is_change(exchange) ? state_write : state_read)();
    if (exchange->fault && fault_replaces(exchange->fault)) {
        fault_answer(exchange);
        add_graph_headers(exchange, version);
    } else if (media_is_download(exchange->path)) {
        media_download(exchange);
    } else if (flow_asset_is_download(exchange->path)) {
        flow_asset_download(exchange);
    } else {
        platform_answer(exchange, version);
        add_graph_headers(exchange, version);
    }
    state_done();
}
