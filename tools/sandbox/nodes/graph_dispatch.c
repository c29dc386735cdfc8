#include "nodes/edges.h"

#include "state/access_token.h"
#include "state/flow_list.h"
#include "state/media_object.h"
#include "state/template_list.h"
#include "text/json_print.h"
#include "wire/graph_error.h"

enum { IDS_MAX = 50 };

/* --- the object --- */

static const char *const type_names[] = {[NODE_NONE] = "",
                                         [NODE_ME] = "User",
                                         [NODE_APP] = "Application",
                                         [NODE_OWN_APP] = "Application",
                                         [NODE_DEBUG_TOKEN] = "debug_token",
                                         [NODE_WABA] = "WhatsAppBusinessAccount",
                                         [NODE_PHONE] = "WhatsAppBusinessPhoneNumber",
                                         [NODE_MEDIA] = "WhatsAppMedia",
                                         [NODE_FLOW] = "WhatsAppFlow",
                                         [NODE_TEMPLATE] = "WhatsAppMessageTemplate",
                                         [NODE_UPLOAD] = "UploadSession"};

/* Returns the platform's name of the type of a node, "" for NODE_NONE. */
static const char *target_type(enum node node) {
    return type_names[node];
}

/* Returns the node of a name that each token has, or NODE_NONE. */
static enum node named_node(const char *id) {
    static const struct {
        const char *name;
        enum node node;
    } names[] = {
        {"me", NODE_ME}, {"app", NODE_APP}, {APP_ID, NODE_APP}, {"debug_token", NODE_DEBUG_TOKEN}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, id) == 0)
            return names[i].node;
    return NODE_NONE;
}

static const struct account *owner_find(const char *id, struct target *target) {
    static const struct {
        enum node node;
        const struct account *(*owner)(const char *id);
    } owners[] = {{NODE_WABA, account_by_waba},
                  {NODE_MEDIA, media_owner},
                  {NODE_FLOW, flow_owner},
                  {NODE_TEMPLATE, template_owner},
                  {NODE_UPLOAD, session_owner}};
    const struct account *account = account_by_phone(id, &target->phone);
    target->node = NODE_PHONE;
    for (size_t i = 0; !account && i < sizeof owners / sizeof *owners; i++) {
        account = owners[i].owner(id);
        target->node = owners[i].node;
    }
    return account;
}

/* The same for the token of the app, which has the app and debug_token alone. */
static enum node app_node(const char *id) {
    enum node node = named_node(id);
    return node == NODE_APP ? NODE_OWN_APP : node == NODE_DEBUG_TOKEN ? node : NODE_NONE;
}

/* Finds the object with this id for a caller with this token. An object of an account with another
 * token counts as unknown: NODE_NONE. */
static struct target target_find(const char *id, const char *token) {
    struct target target = {.node = named_node(id), .id = id};
    if (token_check(token) == TOKEN_APP) {
        target.node = app_node(id);
        return target;
    }
    if (target.node != NODE_NONE) {
        target.account = account_by_token(token);
        return target;
    }
    target.account = owner_find(id, &target);
    if (!target.account || strcmp(target.account->token, token) != 0)
        target.node = NODE_NONE;
    return target;
}

/* --- its edge --- */

static const struct edge *edge_find(const char *method, enum node node, const char *name,
                                    bool *known) {
    *known = false;
    for (const struct edge *edge = graph_edges; edge->method; edge++) {
        if (edge->node == node && strcmp(edge->name, name) == 0) {
            *known = true;
            if (strcmp(edge->method, method) == 0)
                return edge;
        }
    }
    return NULL;
}

static bool is_read(const struct exchange *exchange) {
    return strcmp(exchange->method, "GET") == 0 || strcmp(exchange->method, "HEAD") == 0;
}

/* The platform reads an unknown edge as a field, and refuses a change of it as one of the node. */
static void refuse_edge(struct exchange *exchange, const struct target *target, const char *name,
                        bool known) {
    if (known || !is_read(exchange))
        reply_unknown_object(exchange, target->id);
    else
        reply_error(exchange, 100,
                    "(#100) Tried accessing nonexisting field (%.100s) on node type (%s)", name,
                    target_type(target->node));
}

/* Appends one node of `?ids=`. Returns false after answering with an error. */
static bool answer_id(struct exchange *exchange, const char *id) {
    struct target target = target_find(id, exchange_token(exchange));
    bool known;
    const struct edge *edge = edge_find("GET", target.node, "", &known);
    if (!edge) {
        reply_unknown_object(exchange, id);
        return false;
    }
    json_quote_text(&exchange->reply.body, id);
    buffer_add_char(&exchange->reply.body, ':');
    edge->answer(exchange, &target);
    return exchange->reply.status == 200;
}

/* Answers `?ids=a,b` with an object of the nodes. */
static void answer_ids(struct exchange *exchange, const char *ids) {
    struct slice rest = slice_of(ids);
    size_t count = 0;
    buffer_add_char(&exchange->reply.body, '{');
    while (rest.n > 0) {
        struct slice id = slice_cut(&rest, ',');
        if (slice_has_word((struct slice){ids, (size_t)(id.p - ids)}, ',', id))
            continue; /* it is repeated */
        if (count++ == IDS_MAX) {
            reply_error(exchange, 100, "(#100) Too many IDs: at most %d are allowed.", IDS_MAX);
            return;
        }
        if (count > 1)
            buffer_add_char(&exchange->reply.body, ',');
        if (!answer_id(exchange, arena_copy(exchange->arena, id)))
            return;
    }
    if (count == 0)
        reply_error(exchange, 2500, "Cannot specify an empty identifier");
    else
        buffer_add_char(&exchange->reply.body, '}');
}

/* The root of a version has no answer of its own. */
static void answer_root(struct exchange *exchange) {
    const char *ids = is_read(exchange) ? exchange_parameter(exchange, "ids") : NULL;
    if (ids)
        answer_ids(exchange, ids);
    else
        reply_unknown_object(exchange, "");
}

static void answer_node(struct exchange *exchange, const char *id) {
    const char *method = is_read(exchange) ? "GET" : exchange->method;
    const char *name = exchange_segment(exchange, 2);
    struct target target = target_find(id, exchange_token(exchange));
    bool known;
    if (exchange->segment_count > 3) {
        target.part = exchange_segment(exchange, 3);
        name = arena_printf(exchange->arena, "%s/", name);
    }
    const struct edge *edge = edge_find(method, target.node, name, &known);
    if (target.node == NODE_NONE)
        reply_unknown_object(exchange, id);
    else if (!edge || exchange->segment_count > 4)
        refuse_edge(exchange, &target, name, known);
    else if (!exchange->json && !exchange->upload && !is_read(exchange))
        reply_error(exchange, 100, "(#100) The request body is not valid JSON.");
    else
        edge->answer(exchange, &target);
}

void graph_dispatch(struct exchange *exchange) {
    const char *id = exchange_segment(exchange, 1);
    if (*id == '\0')
        answer_root(exchange);
    else
        answer_node(exchange, id);
}
