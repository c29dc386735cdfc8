#include "graph_routes.h"

#include <stdio.h>

#include "access_token.h"
#include "account.h"
#include "fault_answer.h"
#include "flow_list.h"
#include "graph_error.h"
#include "json_print.h"
#include "media_upload.h"
#include "media_url.h"
#include "message_send.h"
#include "sandbox.h"
#include "template_list.h"

enum { VERSION_OLDEST = 21, VERSION_NEWEST = 26 };

enum node { NODE_NONE, NODE_ME, NODE_WABA, NODE_PHONE, NODE_MEDIA, NODE_FLOW, NODE_TEMPLATE };

static const char *const node_names[] = {"",
                                         "User",
                                         "WhatsAppBusinessAccount",
                                         "WhatsAppBusinessPhoneNumber",
                                         "WhatsAppMedia",
                                         "WhatsAppFlow",
                                         "WhatsAppMessageTemplate"};

/* The object that the first path segment of a request names. */
struct target {
    enum node node;
    const char *id;
    const struct account *account;
    const struct phone *phone;
};

static void answer_me(struct exchange *exchange, const struct target *target) {
    struct buffer *out = &exchange->reply.body;
    const struct account *account = account_by_token(exchange_token(exchange));
    (void)target;
    buffer_add_text(out, "{\"name\":");
    json_quote_text(out, account_name(account));
    buffer_printf(out, ",\"id\":\"%s\"}", account->waba_id);
}

static void answer_waba(struct exchange *exchange, const struct target *target) {
    struct buffer *out = &exchange->reply.body;
    buffer_printf(out, "{\"id\":\"%s\",\"name\":", target->account->waba_id);
    json_quote_text(out, account_name(target->account));
    buffer_add_text(out, ",\"timezone_id\":\"1\"}");
}

static void answer_phone(struct exchange *exchange, const struct target *target) {
    struct buffer *out = &exchange->reply.body;
    buffer_add_text(out, "{\"verified_name\":");
    json_quote_text(out, account_name(target->account));
    buffer_printf(out,
                  ",\"display_phone_number\":\"%s\",\"quality_rating\":\"GREEN\",\"id\":\"%s\"}",
                  target->phone->display, target->phone->id);
}

static void answer_send(struct exchange *exchange, const struct target *target) {
    message_send(exchange, target->account, target->phone);
}

static void answer_upload(struct exchange *exchange, const struct target *target) {
    upload_answer(exchange, target->account, target->phone);
}

static void answer_templates(struct exchange *exchange, const struct target *target) {
    template_list(exchange, target->account);
}

static void answer_template(struct exchange *exchange, const struct target *target) {
    template_show(exchange, target->id);
}

static void answer_flows(struct exchange *exchange, const struct target *target) {
    flow_list(exchange, target->account);
}

static void answer_flow(struct exchange *exchange, const struct target *target) {
    flow_show(exchange, target->id);
}

static void answer_media(struct exchange *exchange, const struct target *target) {
    media_show(exchange, target->id);
}

static void answer_media_delete(struct exchange *exchange, const struct target *target) {
    media_delete(target->id);
    buffer_add_text(&exchange->reply.body, "{\"success\":true}");
}

struct route {
    const char *method;
    enum node node;
    const char *edge;
    void (*answer)(struct exchange *exchange, const struct target *target);
};

/* clang-format off */
static const struct route routes[] = {
    {"POST", NODE_PHONE, "messages", answer_send},
    {"POST", NODE_PHONE, "media", answer_upload},
    {"GET", NODE_PHONE, "", answer_phone},
    {"GET", NODE_WABA, "message_templates", answer_templates},
    {"GET", NODE_WABA, "flows", answer_flows},
    {"GET", NODE_WABA, "", answer_waba},
    {"GET", NODE_TEMPLATE, "", answer_template},
    {"GET", NODE_FLOW, "", answer_flow},
    {"GET", NODE_MEDIA, "", answer_media},
    {"DELETE", NODE_MEDIA, "", answer_media_delete},
    {"GET", NODE_ME, "", answer_me},
};
/* clang-format on */

/* Reads a version, v21.0 to v26.0; an expired version is served as the oldest valid one. Returns 0
 * if there is no such version. */
static int version_read(const char *segment) {
    int major;
    int minor;
    int length = 0;
    if (sscanf(segment, "v%d.%d%n", &major, &minor, &length) != 2 || segment[length] != '\0' ||
        minor != 0 || major < 1 || major > VERSION_NEWEST)
        return 0;
    return major < VERSION_OLDEST ? VERSION_OLDEST : major;
}

static bool version_check(struct exchange *exchange, int version) {
    if (version != 0)
        return true;
    reply_error(exchange, 2500, "Unknown path components: %s", exchange->path);
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
    if (!exchange_header(exchange, "Authorization")) {
        reply_error_as(exchange, 2500, 0, NULL, NULL);
        return false;
    }
    switch (token ? token_check(token) : TOKEN_UNKNOWN) {
    case TOKEN_VALID: return true;
    case TOKEN_EXPIRED: reply_error_as(exchange, 190, 463, expired, NULL); return false;
    case TOKEN_REVOKED: reply_error_as(exchange, 190, 460, revoked, NULL); return false;
    case TOKEN_UNKNOWN: break;
    }
    reply_error_as(exchange, 190, 0, NULL, NULL);
    return false;
}

/* Finds the object. An object of an account with another token counts as unknown. */
static struct target target_find(const char *id, const char *token) {
    struct target target = {.node = NODE_NONE, .id = id};
    if (strcmp(id, "me") == 0) {
        target.node = NODE_ME;
        return target;
    }
    if ((target.account = account_by_waba(id)))
        target.node = NODE_WABA;
    else if ((target.account = account_by_phone(id, &target.phone)))
        target.node = NODE_PHONE;
    else if ((target.account = media_owner(id)))
        target.node = NODE_MEDIA;
    else if ((target.account = flow_owner(id)))
        target.node = NODE_FLOW;
    else if ((target.account = template_owner(id)))
        target.node = NODE_TEMPLATE;
    if (!target.account || strcmp(target.account->token, token) != 0)
        target.node = NODE_NONE;
    return target;
}

static const struct route *route_find(const char *method, enum node node, const char *edge,
                                      bool *known) {
    *known = false;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (routes[i].node == node && strcmp(routes[i].edge, edge) == 0) {
            *known = true;
            if (strcmp(routes[i].method, method) == 0)
                return &routes[i];
        }
    }
    return NULL;
}

static void route_answer(struct exchange *exchange) {
    const char *id = exchange_segment(exchange, 1);
    const char *edge = exchange_segment(exchange, 2);
    const char *method = strcmp(exchange->method, "HEAD") == 0 ? "GET" : exchange->method;
    struct target target = target_find(id, exchange_token(exchange));
    bool known;
    if (target.node == NODE_NONE) {
        reply_unknown_object(exchange, id);
        return;
    }
    const struct route *route = route_find(method, target.node, edge, &known);
    if (route && exchange->segment_count <= 3) {
        route->answer(exchange, &target);
    } else if (known && exchange->segment_count <= 3) {
        reply_unknown_object(exchange, id);
    } else {
        reply_error(exchange, 100,
                    "(#100) Tried accessing nonexisting field (%.100s) on node type (%s)", edge,
                    node_names[target.node]);
    }
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

void graph_prepare(struct exchange *exchange) {
    if (is_upload(exchange))
        exchange->upload = upload_new(exchange->arena, exchange_header(exchange, "Content-Type"));
}

void graph_feed(struct exchange *exchange, struct slice piece) {
    upload_feed(exchange->upload, piece);
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
        route_answer(exchange);
    }
}

void graph_answer(struct exchange *exchange) {
    int version = version_read(exchange_segment(exchange, 0));
    exchange->reply.status = 200;
    exchange->reply.type = "application/json; charset=UTF-8";
    (is_upload(exchange) || strcmp(exchange->method, "DELETE") == 0 ? state_write : state_read)();
    if (exchange->fault && fault_replaces(exchange->fault)) {
        fault_answer(exchange);
        add_graph_headers(exchange, version);
    } else if (media_is_download(exchange->path)) {
        media_download(exchange);
    } else {
        platform_answer(exchange, version);
        add_graph_headers(exchange, version);
    }
    state_done();
}
