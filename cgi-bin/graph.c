/* The platform's Graph API, for programs that are made for it: requests are passed on to the
 * platform with the account's platform access token in place of the API token, and answers come
 * back unchanged. `edges` is the whole of what may be done; all else is refused. */
#include <stdio.h>

#include "api/graph/graph_callbacks.h"
#include "api/graph/graph_failure.h"
#include "api/graph/graph_fields.h"
#include "api/graph/graph_forward.h"
#include "api/graph/graph_local.h"
#include "api/graph/graph_messages.h"
#include "api/graph/graph_node.h"
#include "api/graph/graph_subscription.h"
#include "api/media/signed_url.h"
#include "api/request_trail.h"
#include "api/selector.h"
#include "api/template_flows.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "graph/splice.h"
#include "payload/recipient.h"
#include "store/block.h"
#include "store/media_copy.h"
#include "web/multipart.h"

/* --- links in answers: `rewrite` functions of edges ---
 *
 * They are replaced by links to the gateway (splice.h), and the callbacks in answers about phones
 * and WABAs by the caller's (graph_callbacks.h). If public_url is not set, an answer with such a
 * link fails. */

static struct slice fail_link(struct request *rq) {
    fail(rq, INTERNAL,
         "The answer holds a link, and the gateway cannot make one of its own: its operator must "
         "set public_url.");
    return (struct slice){NULL, 0};
}

/* Returns the changed answer; the body as it is when nothing changed. Fails the request when the
 * answer has a link, but the gateway has no URL. */
static struct slice finish_links(struct request *rq, struct slice body, struct json answer,
                                 struct slice changed) {
    if (slice_equal(json_raw(answer), changed))
        return body;
    return *rq->config->public_url ? changed : fail_link(rq);
}

/* The token for links: that of the query, percent-encoded; NULL when there is none. */
static const char *link_token(struct request *rq) {
    const struct graph_request *graph = rq->graph;
    return graph->has_query_token
               ? graph_escape(rq->arena, query_get(&graph->parameters, "access_token"))
               : NULL;
}

static struct slice replace_pages(struct request *rq, struct slice body, struct json answer) {
    const struct link_change change = {
        .base = arena_printf(rq->arena, "%s%.*s", rq->config->public_url, (int)rq->graph->prefix.n,
                             rq->graph->prefix.p),
        .token = link_token(rq),
    };
    return finish_links(rq, body, answer, splice_paging(rq->arena, answer, &change));
}

/* Shows the caller's callbacks in the answer (graph_callbacks.h), which is then `*body`, and reads
 * it. False: it is no JSON object, and so has no links. */
static bool read_answer(struct request *rq, const struct graph_node *node,
                        const struct graph_outcome *outcome, struct slice *body,
                        struct json *answer) {
    struct json_error error;
    *body = outcome->relayed.answer.body;
    if (node->kind & (GRAPH_PHONE | GRAPH_WABA))
        *body = graph_show_callbacks(rq, node, *body);
    return body->p && json_read(rq->arena, *body, answer, &error) == 0 &&
           json_type(*answer) == JSON_OBJECT;
}

/* Lists: links to other pages lead to the gateway, with the version of the request, and with the
 * API token if it stands in the query of the request. */
static struct slice rewrite_pages(struct request *rq, const struct graph_node *node,
                                  const struct graph_outcome *outcome) {
    struct slice body;
    struct json answer;
    return read_answer(rq, node, outcome, &body, &answer) ? replace_pages(rq, body, answer) : body;
}

/* The same for templates, whose flows are stored (template_flows.h). */
static struct slice rewrite_templates(struct request *rq, const struct graph_node *node,
                                      const struct graph_outcome *outcome) {
    struct slice body;
    struct json answer;
    if (!read_answer(rq, node, outcome, &body, &answer))
        return body;
    template_flows_save(rq, outcome->account, json_get(answer, "data"));
    return replace_pages(rq, body, answer);
}

static const char *media_url(struct request *rq, const struct graph_node *node,
                             const struct graph_outcome *outcome) {
    const struct signed_url url = {.media_id = node->id,
                                   .user_id = rq->caller->user.id,
                                   .account_id = outcome->account->id,
                                   .expires_at = rq->now / 1000 + SIGNED_URL_SECONDS};
    return signed_url_make(rq->arena, rq->config->public_url, &url, outcome->token);
}

/* Objects: the URL of a media object becomes a signed URL of the gateway (signed_url.h). */
static struct slice rewrite_object(struct request *rq, const struct graph_node *node,
                                   const struct graph_outcome *outcome) {
    struct slice body;
    struct json answer;
    if (!read_answer(rq, node, outcome, &body, &answer))
        return body;
    if (json_type(json_get(answer, "url")) != JSON_STRING)
        return replace_pages(rq, body, answer);
    const char *ours = media_url(rq, node, outcome);
    return finish_links(rq, body, answer, splice_media_url(rq->arena, answer, ours));
}

/* --- objects --- */

/* Finds the copy of a file in the archive, and makes its account that of the outcome. */
static enum store_result find_copy(struct request *rq, const struct graph_node *node,
                                   struct graph_outcome *outcome, struct store_media_copy *copy) {
    enum store_result result = STORE_NOT_FOUND;
    for (size_t i = 0; i < node->count && result == STORE_NOT_FOUND; i++) {
        outcome->account = &node->accounts[i];
        result = store_find_media_copy(rq->caller->store, rq->arena, outcome->account->id, node->id,
                                       copy);
    }
    return result;
}

/* Whether the request wants the member: without `fields` it wants all. */
static bool is_wanted(struct request *rq, const char *name) {
    struct slice fields = query_get(&rq->graph->parameters, "fields");
    bool is_named = !fields.n;
    while (fields.n && !is_named)
        is_named = slice_equal(slice_trim(slice_cut(&fields, ',')), slice_of(name));
    return is_named;
}

/* The media object of a copy, with a signed URL of the gateway. */
static struct slice copy_object(struct request *rq, const struct graph_node *node,
                                const struct graph_outcome *outcome,
                                const struct store_media_copy *copy) {
    struct json_writer w;
    json_write_start_object(&w, rq->arena);
    if (is_wanted(rq, "messaging_product"))
        json_write_text(&w, "messaging_product", "whatsapp");
    if (is_wanted(rq, "url"))
        json_write_text(&w, "url", media_url(rq, node, outcome));
    if (is_wanted(rq, "mime_type") && copy->type)
        json_write_text(&w, "mime_type", copy->type);
    if (is_wanted(rq, "sha256"))
        json_write_text(&w, "sha256", copy->sha256);
    if (is_wanted(rq, "file_size"))
        json_write_integer(&w, "file_size", copy->size);
    json_write_text(&w, "id", node->id);
    return json_written(&w);
}

/* The body of the reply for an object: the platform's, with our links; or, when the platform does
 * not know it any more, that of the copy in the archive. p NULL: the request has failed. */
static struct slice object_body(struct request *rq, const struct graph_node *node,
                                struct graph_outcome *outcome) {
    const struct graph_outcome answered = *outcome;
    struct graph_answer *answer = &outcome->relayed.answer;
    struct store_media_copy copy;
    if (answer->status < 300)
        return rewrite_object(rq, node, outcome);
    if (!*rq->config->media_archive || !(node->kind & GRAPH_MEDIA) ||
        !graph_is_elsewhere(rq, answer))
        return answer->body;
    const enum store_result result = find_copy(rq, node, outcome, &copy);
    if (result == STORE_OK && !*rq->config->public_url)
        return fail_link(rq);
    if (result == STORE_OK && (outcome->token = state_account_token(rq, outcome->account))) {
        answer->status = 200;
        return copy_object(rq, node, outcome, &copy);
    }
    if (result == STORE_NOT_FOUND)
        return *outcome = answered, answer->body;
    if (result != STORE_OK)
        state_fail(rq, result);
    return (struct slice){0};
}

static int graph_get_object(struct request *rq, const struct graph_node *node) {
    struct graph_relay relay = graph_outgoing(rq, node);
    struct graph_outcome outcome;
    if (graph_ask(rq, node, &relay, &outcome))
        return -1;
    const struct slice body = object_body(rq, node, &outcome);
    return body.p ? graph_reply(rq, &outcome, body) : -1;
}

/* --- blocks --- */

/* Blocks or unblocks the contact with the identities of the answer's `user`. */
static enum store_result follow(struct request *rq, struct json user, bool blocks) {
    const struct caller *caller = rq->caller;
    struct slice wa_id = json_string(json_get(user, "wa_id"), rq->arena);
    char id[ID_SIZE];
    enum store_result result = store_find_person(
        caller->store, caller->line.account_id, wa_id.p ? recipient_digits(rq->arena, wa_id) : NULL,
        json_text(json_get(user, "user_id"), rq->arena), id);
    struct store_owner_block block = {.view = &caller->view,
                                      .contact_id = id,
                                      .phone_number_id = caller->line.phone_number_id,
                                      .now = rq->now};
    if (result == STORE_OK)
        result = blocks ? store_block(caller->store, rq->arena, &block)
                        : store_unblock(caller->store, rq->arena, &block);
    return result == STORE_NOT_FOUND ? STORE_OK : result; /* no such contact */
}

static void follow_all(struct request *rq, struct json users, bool blocks) {
    for (struct json user = json_first(users); json_is(user); user = json_next(user))
        if (follow(rq, user, blocks) != STORE_OK)
            log_message(LOG_ERROR, "request %s: a block of the platform was not recorded: %s",
                        rq->id, store_reason(rq->caller->store));
}

/* POST and DELETE of a line's edge block_users, which the gateway follows, so that it refuses sends
 * to the same persons without a call (store_block): for each user that the platform's answer lists
 * as blocked or unblocked and that is a contact of the account, blocks or unblocks the contact on
 * the line. A failure of that is only logged, because the platform has carried out the request. */
static int graph_change_blocks(struct request *rq, const struct graph_node *node) {
    struct json answer;
    struct json_error error;
    sigset_t before;
    signals_block(&before);
    int failed = graph_forward(rq, node);
    /* an answer that refuses some of the users lists the others */
    if (!failed && json_read(rq->arena, rq->reply.pieces[0], &answer, &error) == 0) {
        struct json changed = json_get(answer, "block_users");
        follow_all(rq, json_get(changed, "added_users"), true);
        follow_all(rq, json_get(changed, "removed_users"), false);
    }
    signals_restore(&before);
    return failed;
}

enum { MOST_IDS = 20 };

static int check_fields(struct request *rq, enum graph_kind kind);

/* Reads one node and adds it to `all`. The caller has SCOPE_BASIC; an object may be a file, which
 * needs SCOPE_READ, and its kind is not known before the answer. Returns 0, or -1 after failing the
 * request or replying with an error of the platform. */
static int add_node(struct request *rq, struct slice id, struct buffer *all,
                    struct graph_outcome *outcome) {
    struct graph_node node;
    if (graph_find_node(rq, id, &node) || check_fields(rq, node.kind) ||
        (node.kind == GRAPH_OBJECT && auth_check_scope(rq, SCOPE_READ)))
        return -1;
    struct graph_relay relay = graph_outgoing(rq, &node);
    if (graph_ask(rq, &node, &relay, outcome))
        return -1;
    const struct slice body = object_body(rq, &node, outcome);
    if (!body.p || graph_reply(rq, outcome, body) || outcome->relayed.answer.status > 299)
        return -1;
    buffer_printf(all, "%s\"%s\":", all->n > 1 ? "," : "", node.id);
    buffer_add_slice(all, body);
    return 0;
}

/* GET /?ids=A,B: several nodes in one answer. Reads each of at most 20 nodes from the platform,
 * with the other parameters of the query, and replies with an object of them by id; the first error
 * of the platform is the whole reply. Without `ids` the request fails, as at the platform. */
static int graph_get_root(struct request *rq, const struct graph_node *node) {
    struct slice ids = query_get(&rq->graph->parameters, "ids");
    struct buffer all = buffer_in(rq->arena);
    struct graph_outcome outcome;
    size_t headers = rq->reply.headers.n;
    (void)node;
    if (!ids.n)
        return graph_fail_unknown(rq);
    buffer_add_char(&all, '{');
    for (int count = 0; ids.n; count++) {
        struct slice id = slice_trim(slice_cut(&ids, ','));
        if (count == MOST_IDS)
            return fail(rq, INVALID, "Too many IDs. Maximum: %d.", MOST_IDS);
        rq->graph->node = id; /* for messages */
        rq->reply.headers.n = headers;
        if (add_node(rq, id, &all, &outcome))
            return rq->failure.code ? -1 : 0;
    }
    buffer_add_char(&all, '}');
    return reply_body(rq, 200, GRAPH_JSON, buffer_slice(&all));
}

enum {
    ROOT = GRAPH_ROOT,
    PHONE = GRAPH_PHONE,
    WABA = GRAPH_WABA,
    MEDIA = GRAPH_MEDIA,
    TEMPLATE = GRAPH_TEMPLATE,
    FLOW = GRAPH_FLOW,
    APP = GRAPH_APP,
};

enum {
    BASIC = SCOPE_BASIC,
    READ = SCOPE_READ,
    SEND = SCOPE_SEND,
    INBOX = SCOPE_INBOX,
    EVENTS = SCOPE_EVENTS,
    MANAGE = SCOPE_MANAGE,
};

#define FORWARDED   .action = GRAPH_FORWARDED
#define RECORDED    .action = GRAPH_RECORDED
#define LOCAL       .action = GRAPH_LOCAL
#define DESTRUCTIVE .action = GRAPH_DESTRUCTIVE

/* The links in answers that become links to the gateway. */
#define PAGES     .rewrite = rewrite_pages
#define TEMPLATES .rewrite = rewrite_templates
#define OBJECT    graph_get_object

static int post_phone(struct request *rq, const struct graph_node *node);
static int post_upload(struct request *rq, const struct graph_node *node);

/* clang-format off */
static const struct graph_edge edges[] = {
    /* the token and the application */
    {"GET",    ROOT,          "",                           BASIC,  FORWARDED, graph_get_root},
    {"GET",    ROOT,          "app",                        BASIC,  LOCAL, graph_get_app},
    {"GET",    ROOT,          "me",                         BASIC,  LOCAL, graph_get_me},
    {"GET",    ROOT,          "debug_token",                BASIC,  LOCAL, graph_debug_token},
    {"GET",    ROOT,          "oauth/access_token",         MANAGE, LOCAL, graph_get_access_token},
    {"POST",   ROOT,          "oauth/access_token",         MANAGE, LOCAL, graph_get_access_token,
     .trail = NO_TRAIL("nothing changes")},
    {"GET",    APP,           "subscriptions",              MANAGE, LOCAL,
     graph_get_app_subscription},
    {"POST",   APP,           "subscriptions",              MANAGE, LOCAL, graph_subscribe_app,
     .trail = "webhook.subscribe"},
    {"DELETE", APP,           "subscriptions",              MANAGE, LOCAL, graph_unsubscribe_app,
     .trail = "webhook.unsubscribe"},
    {"POST",   APP,           "uploads",                    MANAGE, FORWARDED, post_upload,
     .trail = NO_TRAIL("a template that has the sample is the trace")},
    /* a phone number */
    {"GET",    PHONE,         "",                           BASIC,  FORWARDED, PAGES},
    {"POST",   PHONE,         "?webhook_configuration",     MANAGE, LOCAL, graph_configure_webhook,
     .trail = "webhook.update"},
    {"POST",   PHONE,         "?pin",                       MANAGE, DESTRUCTIVE, post_phone,
     .trail = "line.pin"},
    {"POST",   PHONE,         "messages",                   SEND,   RECORDED, graph_post_message,
     .trail = TRAIL_MESSAGE},
    {"POST",   PHONE,         "marketing_messages",         SEND,   RECORDED, graph_post_message,
     .trail = TRAIL_MESSAGE},
    {"GET",    PHONE,         "whatsapp_business_profile",  BASIC,  FORWARDED, PAGES},
    {"POST",   PHONE,         "whatsapp_business_profile",  MANAGE, FORWARDED,
     .trail = "line.profile"},
    {"GET",    PHONE,         "whatsapp_commerce_settings", BASIC,  FORWARDED, PAGES},
    {"POST",   PHONE,         "whatsapp_commerce_settings", MANAGE, FORWARDED,
     .trail = "line.commerce"},
    {"GET",    PHONE,         "settings",                   BASIC,  FORWARDED, PAGES},
    {"POST",   PHONE,         "settings",                   MANAGE, FORWARDED,
     .trail = "line.settings"},
    {"POST",   PHONE,         "conversational_automation",  MANAGE, FORWARDED,
     .trail = "line.automation"},
    {"GET",    PHONE,         "whatsapp_business_encryption", BASIC, FORWARDED, PAGES},
    {"POST",   PHONE,         "whatsapp_business_encryption", MANAGE, FORWARDED,
     .trail = "line.encryption"},
    {"POST",   PHONE,         "request_code",               MANAGE, FORWARDED,
     .trail = "line.request_code"},
    {"POST",   PHONE,         "verify_code",                MANAGE, FORWARDED,
     .trail = "line.verify_code"},
    {"POST",   PHONE,         "register",                   MANAGE, FORWARDED,
     .trail = "line.register"},
    {"POST",   PHONE,         "deregister",                 MANAGE, DESTRUCTIVE,
     .trail = "line.deregister"},
    {"GET",    PHONE,         "block_users",                READ,   FORWARDED, PAGES},
    {"POST",   PHONE,         "block_users",                INBOX,  RECORDED, graph_change_blocks,
     .trail = "contact.block"},
    {"DELETE", PHONE,         "block_users",                INBOX,  RECORDED, graph_change_blocks,
     .trail = "contact.unblock"},
    {"GET",    PHONE,         "message_qrdls",              BASIC,  FORWARDED, PAGES},
    {"POST",   PHONE,         "message_qrdls",              MANAGE, FORWARDED,
     .trail = "qr.update"},
    {"DELETE", PHONE,         "message_qrdls",              MANAGE, FORWARDED,
     .trail = "qr.delete"},
    {"GET",    PHONE,         "message_qrdls/:code",        BASIC,  FORWARDED, PAGES},
    {"POST",   PHONE,         "message_qrdls/:code",        MANAGE, FORWARDED,
     .trail = "qr.update"},
    {"DELETE", PHONE,         "message_qrdls/:code",        MANAGE, FORWARDED,
     .trail = "qr.delete"},
    /* a business account */
    {"GET",    WABA,          "",                           BASIC,  FORWARDED, PAGES},
    {"GET",    WABA,          "phone_numbers",              BASIC,  FORWARDED, PAGES},
    {"GET",    WABA,          "subscribed_apps",            EVENTS, LOCAL, graph_get_subscription},
    {"POST",   WABA,          "subscribed_apps",            MANAGE, LOCAL, graph_subscribe,
     .trail = "webhook.subscribe"},
    {"DELETE", WABA,          "subscribed_apps",            MANAGE, LOCAL, graph_unsubscribe,
     .trail = "webhook.unsubscribe"},
    {"GET",    WABA,          "message_templates",          BASIC,  FORWARDED, TEMPLATES},
    {"POST",   WABA,          "message_templates",          MANAGE, FORWARDED,
     .trail = "template.create"},
    {"DELETE", WABA,          "message_templates",          MANAGE, DESTRUCTIVE,
     .trail = "template.delete"},
    {"GET",    WABA,          "template_analytics",         BASIC,  FORWARDED, PAGES},
    {"GET",    WABA,          "flows",                      BASIC,  FORWARDED, PAGES},
    {"POST",   WABA,          "flows",                      MANAGE, FORWARDED,
     .trail = "flow.create"},
    /* media, templates and flows: of the platform alone */
    {"GET",    MEDIA,         "",                           READ,   FORWARDED, OBJECT},
    {"GET",    TEMPLATE|FLOW, "",                           BASIC,  FORWARDED, OBJECT},
    {"DELETE", MEDIA,         "",                           MANAGE, FORWARDED,
     .trail = "media.delete"},
    {"POST",   TEMPLATE,      "",                           MANAGE, FORWARDED,
     .trail = "template.update"},
    {"POST",   TEMPLATE,      "unpause",                    MANAGE, FORWARDED,
     .trail = "template.unpause"},
    {"POST",   FLOW,          "",                           MANAGE, FORWARDED,
     .trail = "flow.update"},
    {"DELETE", FLOW,          "",                           MANAGE, DESTRUCTIVE,
     .trail = "flow.delete"},
    {"GET",    FLOW,          "assets",                     BASIC,  FORWARDED, PAGES},
    {"POST",   FLOW,          "assets",                     MANAGE, FORWARDED,
     .trail = "flow.assets"},
    {"POST",   FLOW,          "publish",                    MANAGE, FORWARDED,
     .trail = "flow.publish"},
    {"POST",   FLOW,          "deprecate",                  MANAGE, DESTRUCTIVE,
     .trail = "flow.deprecate"},
    {0},
};
/* clang-format on */

static int check_property(struct request *rq, struct slice name) {
    static const char *const passed[] = {"pin", "messaging_product", "access_token",
                                         "appsecret_proof"};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (slice_equal(name, slice_of(passed[i])))
            return 0;
    return fail(rq, INVALID, "The property %.*s of a phone number is not passed on.", (int)name.n,
                name.p);
}

/* A field of a node may be one of its edges, and needs the scope of that edge. */
static int check_fields(struct request *rq, enum graph_kind kind) {
    if (graph_check_fields(rq, kind))
        return -1;
    for (const struct graph_edge *row = edges; row->method; row++)
        if (row->of & kind && strcmp(row->method, "GET") == 0 && graph_asks_for(rq, row->name) &&
            auth_check_scope(rq, row->scope))
            return -1;
    return 0;
}

/* The two-step PIN is the only property of a phone number that is passed on. */
static int post_phone(struct request *rq, const struct graph_node *node) {
    const struct graph_request *graph = rq->graph;
    for (size_t i = 0; i < graph->parameters.count; i++)
        if (check_property(rq, graph->parameters.values[i].name))
            return -1;
    for (size_t i = 0; i < graph->form.count; i++)
        if (check_property(rq, graph->form.values[i].name))
            return -1;
    for (struct json m = json_first(graph->json); json_is(m); m = json_next(m))
        if (check_property(rq, json_name(m, rq->arena)))
            return -1;
    if (multipart_is(graph->content_type))
        return fail(rq, INVALID, "The body must be JSON or application/x-www-form-urlencoded.");
    return graph_forward(rq, node);
}

/* Starts a session for a sample: asks the platform for the application of the first account's
 * token, and passes the request on to that. */
static int post_upload(struct request *rq, const struct graph_node *node) {
    struct graph_node app = {.kind = node->kind, .id = "app"};
    struct graph_relay own = {.method = "GET", .path = "app", .query = SLICE("fields=id")};
    struct graph_outcome outcome;
    struct json answer;
    struct json_error error;
    if (selector_list(rq, &app.accounts, &app.count))
        return -1;
    app.count = 1;
    if (graph_ask(rq, &app, &own, &outcome))
        return -1;
    const struct graph_answer *named = &outcome.relayed.answer;
    if (named->status > 299)
        return graph_reply(rq, &outcome, named->body);
    if (json_read(rq->arena, named->body, &answer, &error) ||
        !(app.id = json_text(json_get(answer, "id"), rq->arena)))
        return fail(rq, BAD_GATEWAY, "The platform did not name the application of the account.");
    return graph_forward(rq, &app);
}

/* --- from a request to its edge --- */

/* The rows that a request may mean before the kind of its object is known. */
static int find_node(struct request *rq, struct graph_node *node) {
    const struct graph_request *graph = rq->graph;
    node->kind = GRAPH_ROOT;
    if (graph_find_edge(rq, edges, GRAPH_ROOT))
        return 0;
    return graph->node.n ? graph_find_node(rq, graph->node, node) : graph_fail_unknown(rq);
}

/* Whether an object may be passed on before its kind is known: a reading one, for a caller that may
 * read objects of each kind. */
static bool may_be_any(const struct request *rq) {
    static const unsigned of_objects = SCOPE_BASIC | SCOPE_READ;
    return strcmp(rq->method, "GET") == 0 && (rq->caller->scopes & of_objects) == of_objects;
}

/* What destroys something is in the trail before the call of the platform. */
static int carry_out(struct request *rq, const struct graph_edge *row,
                     const struct graph_node *node) {
    rq->trail = row->trail;
    if (row->action == GRAPH_DESTRUCTIVE && trail_leave(rq, rq->caller->store, node->id))
        return -1;
    const int failed = row->handle ? row->handle(rq, node) : graph_forward(rq, node);
    if (!failed && rq->reply.status < 300)
        trail_leave_after(rq, rq->caller->store, node->id);
    return failed;
}

static int serve_edge(struct request *rq) {
    struct graph_node node = {0};
    if (find_node(rq, &node))
        return -1;
    const struct graph_edge *row = graph_find_edge(rq, edges, node.kind);
    if (row && node.kind == GRAPH_OBJECT && !may_be_any(rq)) {
        int identified = graph_identify(rq, &node);
        if (identified)
            return identified < 0 ? -1 : 0;
        row = graph_find_edge(rq, edges, node.kind);
    }
    if (!row)
        return node.kind == GRAPH_OBJECT ? graph_fail_unknown(rq) : graph_fail_edge(rq);
    if (auth_check_scope(rq, row->scope) ||
        (row->action == GRAPH_DESTRUCTIVE && upstream_check_destructive(rq)))
        return -1;
    if (node.id && check_fields(rq, node.kind))
        return -1;
    rq->graph->row = row;
    return carry_out(rq, row, &node);
}

/* --- the routes: one for each path of the table, so that counters and logs name the edge --- */

enum { MOST_ROUTES = 2 * sizeof edges / sizeof *edges, LONGEST_PATH = 64, OTHER_ROUTES = 6 };

static struct route routes[MOST_ROUTES + OTHER_ROUTES + 1];
static char paths[MOST_ROUTES][LONGEST_PATH];

static void add_route(size_t *count, const char *method, const char *path) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp(routes[i].method, method) == 0 && strcmp(routes[i].path, path) == 0)
            return;
    routes[(*count)++] = (struct route){.method = method,
                                        .path = path,
                                        .scope = SCOPE_BY_EDGE,
                                        .guard = &graph_guard,
                                        .handle = serve_edge,
                                        .body = BODY_RAW,
                                        .body_limit = JSON_BODY_LIMIT,
                                        .trail = TRAIL_BY_EDGE};
}

static void make_routes(void) {
    static const char *const methods[] = {"GET", "POST", "DELETE"};
    size_t count = 0, written = 0;
    graph_check_edges(edges);
    for (const struct graph_edge *row = edges; row->method; row++) {
        char *path = paths[written++];
        int length = (int)strcspn(row->name, "?");
        snprintf(path, LONGEST_PATH, "%s%s%.*s", row->of == GRAPH_ROOT ? "" : "/:id",
                 row->of == GRAPH_ROOT || length ? "/" : "", length, row->name);
        add_route(&count, row->method, path);
    }
    for (size_t i = 0; i < 3; i++) { /* what no row has: serve_edge refuses it */
        add_route(&count, methods[i], "/:id");
        add_route(&count, methods[i], "/:id/:edge");
    }
}

static void write_edges(struct json_writer *out, const char *name) {
    graph_write_edges(out, name, edges);
}

int main(int argc, char **argv) {
    make_routes();
    return serve(&(struct service){.name = "graph",
                                   .routes = routes,
                                   .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM |
                                            CALLS_WEBHOOKS | KEEPS_RECORDS,
                                   .load = http_prepare,
                                   .enter = graph_enter,
                                   .settle = graph_settle,
                                   .write_edges = write_edges,
                                   .is_catch_all = true},
                 argc, argv);
}
