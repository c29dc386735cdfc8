/* The platform's Graph API, for programs that are made for it: requests are passed on to the
 * platform with the account's platform access token in place of the API token, and answers come
 * back unchanged. `edges` is the whole of what may be done; all else is refused. */
#include <stdio.h>

#include "api/graph/graph_failure.h"
#include "api/graph/graph_fields.h"
#include "api/graph/graph_forward.h"
#include "api/graph/graph_links.h"
#include "api/graph/graph_local.h"
#include "api/graph/graph_messages.h"
#include "api/graph/graph_node.h"
#include "api/graph/graph_subscription.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "payload/recipient.h"
#include "store/block.h"
#include "web/multipart.h"

/* Blocks or unblocks the contact with the identities of the answer's `user`. */
static enum store_result follow(struct request *rq, struct json user, bool blocks) {
    const struct caller *caller = rq->caller;
    struct slice wa_id = json_string(json_get(user, "wa_id"), rq->arena);
    char id[ID_SIZE];
    enum store_result result = store_find_person(
        caller->store, caller->line.account_id, wa_id.p ? recipient_digits(rq->arena, wa_id) : NULL,
        json_text(json_get(user, "user_id"), rq->arena), id);
    struct store_owner_block block = {.user_id = caller->user.id,
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

/* Reads one node and adds it to `all`. Returns 0, or -1 after failing the request or replying with
 * an error of the platform. */
static int add_node(struct request *rq, struct slice id, struct buffer *all,
                    struct graph_outcome *outcome) {
    struct graph_node node;
    if (graph_find_node(rq, id, &node) || graph_check_fields(rq, node.kind))
        return -1;
    struct graph_relay relay = graph_outgoing(rq, &node);
    if (graph_ask(rq, &node, &relay, outcome))
        return -1;
    struct slice body = outcome->relayed.answer.body;
    if (outcome->relayed.answer.status < 300)
        body = graph_rewrite_object(rq, &node, outcome);
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
};

#define FORWARDED   .action = GRAPH_FORWARDED
#define RECORDED    .action = GRAPH_RECORDED
#define LOCAL       .action = GRAPH_LOCAL
#define DESTRUCTIVE .action = GRAPH_DESTRUCTIVE

/* The links in answers that become links to the gateway. */
#define PAGES     .rewrite = graph_rewrite_pages
#define TEMPLATES .rewrite = graph_rewrite_templates
#define OBJECT    .rewrite = graph_rewrite_object

static int post_phone(struct request *rq, const struct graph_node *node);

/* clang-format off */
static const struct graph_edge edges[] = {
    /* the token and the application */
    {"GET",    ROOT,              "",                           FORWARDED, .handle = graph_get_root},
    {"GET",    ROOT,              "app",                        LOCAL, .handle = graph_get_app},
    {"GET",    ROOT,              "me",                         LOCAL, .handle = graph_get_me},
    {"GET",    ROOT,              "debug_token",                LOCAL, .handle = graph_debug_token},
    /* a phone number */
    {"GET",    PHONE,             "",                           FORWARDED, PAGES},
    {"POST",   PHONE,             "?webhook_configuration",     LOCAL, .handle = graph_configure_webhook},
    {"POST",   PHONE,             "?pin",                       DESTRUCTIVE, .handle = post_phone},
    {"POST",   PHONE,             "messages",                   RECORDED, .handle = graph_post_message},
    {"GET",    PHONE,             "whatsapp_business_profile",  FORWARDED, PAGES},
    {"POST",   PHONE,             "whatsapp_business_profile",  FORWARDED},
    {"GET",    PHONE,             "whatsapp_commerce_settings", FORWARDED, PAGES},
    {"POST",   PHONE,             "whatsapp_commerce_settings", FORWARDED},
    {"GET",    PHONE,             "settings",                   FORWARDED, PAGES},
    {"POST",   PHONE,             "settings",                   FORWARDED},
    {"POST",   PHONE,             "request_code",               FORWARDED},
    {"POST",   PHONE,             "verify_code",                FORWARDED},
    {"POST",   PHONE,             "register",                   FORWARDED},
    {"POST",   PHONE,             "deregister",                 DESTRUCTIVE},
    {"GET",    PHONE,             "block_users",                FORWARDED, PAGES},
    {"POST",   PHONE,             "block_users",                RECORDED, .handle = graph_change_blocks},
    {"DELETE", PHONE,             "block_users",                RECORDED, .handle = graph_change_blocks},
    {"GET",    PHONE,             "message_qrdls",              FORWARDED, PAGES},
    {"POST",   PHONE,             "message_qrdls",              FORWARDED},
    {"DELETE", PHONE,             "message_qrdls",              FORWARDED},
    {"GET",    PHONE,             "message_qrdls/:code",        FORWARDED, PAGES},
    {"POST",   PHONE,             "message_qrdls/:code",        FORWARDED},
    {"DELETE", PHONE,             "message_qrdls/:code",        FORWARDED},
    /* a business account */
    {"GET",    WABA,              "",                           FORWARDED, PAGES},
    {"GET",    WABA,              "phone_numbers",              FORWARDED, PAGES},
    {"GET",    WABA,              "subscribed_apps",            LOCAL, .handle = graph_get_subscription},
    {"POST",   WABA,              "subscribed_apps",            LOCAL, .handle = graph_subscribe},
    {"DELETE", WABA,              "subscribed_apps",            LOCAL, .handle = graph_unsubscribe},
    {"GET",    WABA,              "message_templates",          FORWARDED, TEMPLATES},
    {"POST",   WABA,              "message_templates",          FORWARDED},
    {"DELETE", WABA,              "message_templates",          DESTRUCTIVE},
    {"GET",    WABA,              "flows",                      FORWARDED, PAGES},
    {"POST",   WABA,              "flows",                      FORWARDED},
    /* media, templates and flows: of the platform alone */
    {"GET",    MEDIA|TEMPLATE|FLOW, "",                         FORWARDED, OBJECT},
    {"DELETE", MEDIA,             "",                           FORWARDED},
    {"POST",   TEMPLATE,          "",                           FORWARDED},
    {"POST",   FLOW,              "",                           FORWARDED},
    {"DELETE", FLOW,              "",                           DESTRUCTIVE},
    {"GET",    FLOW,              "assets",                     FORWARDED, PAGES},
    {"POST",   FLOW,              "assets",                     FORWARDED},
    {"POST",   FLOW,              "publish",                    FORWARDED},
    {"POST",   FLOW,              "deprecate",                  DESTRUCTIVE},
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

/* --- from a request to its edge --- */

/* The rows that a request may mean before the kind of its object is known. */
static int find_node(struct request *rq, struct graph_node *node) {
    const struct graph_request *graph = rq->graph;
    node->kind = GRAPH_ROOT;
    if (!graph->edge.n && graph_find_edge(rq, edges, GRAPH_ROOT))
        return 0;
    return graph->node.n ? graph_find_node(rq, graph->node, node) : graph_fail_unknown(rq);
}

static int check_destructive(struct request *rq) {
    if (config_is_on(rq->config->graph_destructive))
        return 0;
    return fail(
        rq, FORBIDDEN,
        "The gateway does not pass this on: its operator must set graph_destructive = yes.");
}

static int serve_edge(struct request *rq) {
    struct graph_node node = {0};
    if (find_node(rq, &node))
        return -1;
    const struct graph_edge *row = graph_find_edge(rq, edges, node.kind);
    if (row && node.kind == GRAPH_OBJECT && strcmp(rq->method, "GET") != 0) {
        int identified = graph_identify(rq, &node);
        if (identified)
            return identified < 0 ? -1 : 0;
        row = graph_find_edge(rq, edges, node.kind);
    }
    if (!row)
        return node.kind == GRAPH_OBJECT ? graph_fail_unknown(rq) : graph_fail_edge(rq);
    if (row->action == GRAPH_DESTRUCTIVE && check_destructive(rq))
        return -1;
    if (node.id && graph_check_fields(rq, node.kind))
        return -1;
    rq->graph->row = row;
    return row->handle ? row->handle(rq, &node) : graph_forward(rq, &node);
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
                                        .guard = &graph_guard,
                                        .handle = serve_edge,
                                        .body = BODY_RAW,
                                        .body_limit = JSON_BODY_LIMIT};
}

static void make_routes(void) {
    static const char *const methods[] = {"GET", "POST", "DELETE"};
    size_t count = 0, written = 0;
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
