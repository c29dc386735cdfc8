/* /v2/forms: the platform's flows, and the rows stored for them here (spec 4.5). */
#include <ctype.h>

#include "api/graph/graph_fields.h"
#include "api/list.h"
#include "api/request_trail.h"
#include "api/selector.h"
#include "api/upstream.h"
#include "base/buffer.h"
#include "base/http_client.h"
#include "base/log.h"
#include "graph/media_api.h"
#include "payload/flow_object.h"

/* Stores the flows of an answer. A failure is only logged: the client's answer does not depend on
 * it. */
static void save_flows(struct request *rq, const struct store_account *account,
                       const struct store_flow *flows, size_t count) {
    struct store *store = rq->caller->store;
    if (count &&
        store_upsert_flows(store, rq->arena, account->id, flows, count, rq->now) != STORE_OK)
        log_message(LOG_ERROR, "request %s: flows were not stored: %s", rq->id,
                    store_reason(store));
}

static const struct text_rule fields_rule = {
    .meaning = "names of members, separated by commas, without braces", .longest = 2048};

#define FIELDS_FIELD                                                                               \
    {                                                                                              \
        .name = "fields", .type = FIELD_STRING, .rule = &fields_rule,                              \
        .example = "id,name,status,validation_errors,preview.invalidate(false)"                    \
    }

/* The parameter `fields`, checked and percent-encoded; *encoded is NULL without it. */
static int read_fields(struct request *rq, const char **encoded) {
    struct slice list = query_get(&rq->query, "fields");
    *encoded = list.n ? graph_escape(rq->arena, list) : NULL;
    return list.n ? graph_check_list(rq, list, GRAPH_FLOW) : 0;
}

/* Whether the answer has all that a row takes from a flow; without `fields` it has. */
static bool has_row(struct request *rq) {
    struct slice list = query_get(&rq->query, "fields");
    return !list.n || (slice_has_word(list, ',', SLICE("name")) &&
                       slice_has_word(list, ',', SLICE("status")) &&
                       slice_has_word(list, ',', SLICE("validation_errors")));
}

/* --- GET /v2/forms --- */

static const struct field list_query[] = {
    {.name = "limit", .type = FIELD_INTEGER, .min = 1},
    {.name = "after", .type = FIELD_STRING},
    FIELDS_FIELD,
    SELECTOR_FIELDS,
    {0},
};

static int get_flows(struct request *rq) {
    struct store_account account;
    const char *fields;
    if (selector_choose(rq, &account) || read_fields(rq, &fields))
        return -1;
    struct graph_page_request wanted = {.waba_id = account.waba_id,
                                        .edge = "flows",
                                        .fields = fields,
                                        .limit = query_integer(&rq->query, "limit", 25),
                                        .after = query_get(&rq->query, "after").p};
    struct graph_page page;
    struct store_flow *flows;
    if (list_get_page(rq, &account, &wanted, false, &page))
        return -1;
    size_t count = flow_read_all(rq->arena, page.items, &flows);
    if (has_row(rq))
        save_flows(rq, &account, flows, count);
    struct slice paging = graph_page_paging(rq->arena, &page);
    struct json_writer data;
    reply_start(rq, &data);
    json_write_raw(&data, "items", json_raw(page.items));
    json_write_raw(&data, "paging", paging.n ? paging : SLICE("{\"cursors\":{}}"));
    return reply_object(rq, &data);
}

/* --- GET /v2/forms/search --- */

static const struct field search_query[] = {
    {.name = "q", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "limit", .type = FIELD_INTEGER, .min = 1, .max = 50},
    SELECTOR_FIELDS,
    {0},
};

static void write_row(struct json_writer *w, const struct store_flow *flow) {
    json_write_object(w, NULL);
    json_write_text(w, "id", flow->flow_id);
    json_write_text(w, "name", flow->name);
    json_write_text(w, "status", flow->status);
    json_write_raw(w, "validation", flow->validation);
    json_write_text(w, "accountId", flow->account_id);
    json_write_time(w, "createdAt", flow->created_at);
    json_write_time(w, "updatedAt", flow->updated_at);
    json_write_object(w, "_count");
    json_write_integer(w, "responses", flow->responses);
    json_write_end(w);
    json_write_end(w);
}

static int get_search(struct request *rq) {
    struct store_account account;
    struct store_flow *flows;
    size_t count;
    bool is_one = query_get(&rq->query, "phoneNumberId").p || query_get(&rq->query, "accountId").p;
    if (is_one && selector_choose(rq, &account))
        return -1;
    enum store_result result = store_search_flows(
        rq->caller->store, rq->arena, rq->caller->user.id, is_one ? account.id : NULL,
        query_get(&rq->query, "q"), query_integer(&rq->query, "limit", 20), &flows, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    struct json_writer data;
    reply_start(rq, &data);
    json_write_array(&data, "items");
    for (size_t i = 0; i < count; i++)
        write_row(&data, &flows[i]);
    json_write_end(&data);
    return reply_object(rq, &data);
}

/* --- GET /v2/forms/:flowId --- */

static const struct field detail_query[] = {FIELDS_FIELD, SELECTOR_FIELDS, {0}};

/* The id becomes the path of a call, where any other text could address another object. */
static bool is_flow_id(struct slice id) {
    for (size_t i = 0; i < id.n; i++)
        if (!isalnum((unsigned char)id.p[i]) && id.p[i] != '-' && id.p[i] != '_')
            return false;
    return id.n <= 128;
}

/* Sets the account of the flow that the path names. */
static int choose_account(struct request *rq, struct store_account *account) {
    struct slice id = rq->parameters[0];
    if (!id.n)
        return fail(rq, INVALID, "The flow id is empty: call /v2/forms/FLOW_ID.");
    if (!is_flow_id(id))
        return fail(rq, NOT_FOUND, "There is no such flow: ids hold letters, digits, - and _.");
    return selector_choose(rq, account);
}

/* Reads the flow of the path; `fields` percent-encoded, NULL: the platform's choice. */
static int ask(struct request *rq, const struct store_account *account, const char *fields,
               struct json *answer) {
    const char *id = request_segment(rq);
    struct graph_call call = {.method = "GET",
                              .path =
                                  fields ? arena_printf(rq->arena, "%s?fields=%s", id, fields) : id,
                              .token = state_account_token(rq, account)};
    if (!call.token || upstream_call(rq, UPSTREAM_LIST, &call, answer))
        return -1;
    if (json_type(*answer) != JSON_OBJECT)
        return fail_with_details(rq, INTERNAL, json_raw(*answer),
                                 "The platform's answer is no flow.");
    return 0;
}

static int get_flow(struct request *rq) {
    struct store_account account;
    struct store_flow flow;
    struct json answer;
    const char *fields;
    if (choose_account(rq, &account) || read_fields(rq, &fields) ||
        ask(rq, &account, fields, &answer))
        return -1;
    /* the id of an account or a line is answered too, but such an object has no status */
    if (has_row(rq) && flow_read(rq->arena, answer, &flow) && *flow.status)
        save_flows(rq, &account, &flow, 1);
    return reply_data(rq, json_raw(answer));
}

/* --- POST /v2/forms, PUT .../json, POST .../publish and .../deprecate, DELETE ---
 *
 * Bodies and answers are passed on byte for byte: the platform judges a flow, not the gateway.
 */

static const struct field account_query[] = {SELECTOR_FIELDS, {0}};

/* Only the types are checked. */
static const struct field create_fields[] = {
    {.name = "name", .type = FIELD_STRING, .required = true},
    {.name = "categories", .type = FIELD_STRINGS, .required = true, .example = "OTHER"},
    {.name = "flow_json", .type = FIELD_STRING},
    {.name = "publish", .type = FIELD_BOOLEAN},
    {.name = "clone_flow_id", .type = FIELD_STRING},
    {.name = "endpoint_uri", .type = FIELD_STRING},
    {0},
};

/* The members at the top of a Flow JSON; the platform says which of them it needs. */
static const struct field asset_fields[] = {
    {.name = "version", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "data_api_version", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "routing_model", .type = FIELD_OBJECT},
    {.name = "screens", .type = FIELD_ARRAY},
    {0},
};

/* The row of a new flow; false when the answer has no id. */
static bool read_new(struct request *rq, struct json answer, struct store_flow *flow) {
    struct json errors = json_get(answer, "validation_errors");
    *flow = (struct store_flow){
        .flow_id = json_text(json_get(answer, "id"), rq->arena),
        .name = json_text(json_get(rq->json, "name"), rq->arena),
        .status = json_type(json_get(rq->json, "publish")) == JSON_TRUE ? "PUBLISHED" : "DRAFT",
        .validation = json_type(errors) == JSON_ARRAY ? json_raw(errors) : SLICE("[]"),
    };
    return flow->flow_id && *flow->flow_id && flow->name;
}

static int post_new(struct request *rq) {
    struct store_account account;
    struct store_flow flow;
    struct json answer;
    if (selector_choose(rq, &account))
        return -1;
    struct graph_relay call = {
        .method = "POST",
        .path =
            arena_printf(rq->arena, "%s/flows", graph_escape(rq->arena, slice_of(account.waba_id))),
        .content_type = "application/json",
        .body = rq->body};
    if (upstream_pass_on(rq, &account, &call, &answer))
        return -1;
    if (read_new(rq, answer, &flow))
        save_flows(rq, &account, &flow, 1);
    trail_leave_after(rq, rq->caller->store, json_text(json_get(answer, "id"), rq->arena));
    return 0;
}

/* Sets account and row of the flow that the path names. It is read first, because the id could be
 * that of another object, which the call would change or delete. */
static int choose(struct request *rq, struct store_account *account, struct store_flow *flow) {
    struct json object;
    if (choose_account(rq, account) || ask(rq, account, NULL, &object))
        return -1;
    if (json_type(json_get(object, "categories")) != JSON_ARRAY ||
        !flow_read(rq->arena, object, flow))
        return fail(rq, NOT_FOUND, "There is no such flow; GET /v2/forms lists them.");
    return 0;
}

/* Makes a POST to an edge of the flow, replies with the answer, and stores the row with the status
 * that the flow has then. */
static int post_edge(struct request *rq, const struct store_account *account,
                     struct store_flow *flow, struct graph_relay *call) {
    struct json answer;
    if (upstream_pass_on(rq, account, call, &answer))
        return -1;
    struct json errors = json_get(answer, "validation_errors");
    if (json_type(errors) == JSON_ARRAY)
        flow->validation = json_raw(errors);
    save_flows(rq, account, flow, 1);
    trail_leave_after(rq, rq->caller->store, flow->flow_id);
    return 0;
}

static struct graph_relay call_of(struct request *rq, const char *edge) {
    struct slice id = rq->parameters[0];
    return (struct graph_relay){.method = "POST",
                                .path = arena_printf(rq->arena, "%.*s/%s", (int)id.n, id.p, edge)};
}

static int put_asset(struct request *rq) {
    struct store_account account;
    struct store_flow flow;
    if (choose(rq, &account, &flow))
        return -1;
    static const struct upload_text texts[] = {
        {"name", "flow.json"}, {"asset_type", "FLOW_JSON"}, {NULL, NULL}};
    struct upload_form form = upload_form_make(rq->arena, texts, "flow.json", "application/json");
    struct buffer body = buffer_in(rq->arena);
    buffer_add_slice(&body, form.head);
    buffer_add_slice(&body, rq->body);
    buffer_add_slice(&body, form.tail);
    struct graph_relay call = call_of(rq, "assets");
    call.content_type = form.type;
    call.body = buffer_slice(&body);
    return post_edge(rq, &account, &flow, &call);
}

static int post_publish(struct request *rq) {
    struct store_account account;
    struct store_flow flow;
    if (choose(rq, &account, &flow))
        return -1;
    struct graph_relay call = call_of(rq, "publish");
    flow.status = "PUBLISHED";
    return post_edge(rq, &account, &flow, &call);
}

/* As of all that is destroyed, the row of the trail is left before the call. */
static int post_deprecate(struct request *rq) {
    struct store_account account;
    struct store_flow flow;
    if (upstream_check_destructive(rq) || choose(rq, &account, &flow))
        return -1;
    struct graph_relay call = call_of(rq, "deprecate");
    flow.status = "DEPRECATED";
    if (trail_leave(rq, rq->caller->store, flow.flow_id))
        return -1;
    return post_edge(rq, &account, &flow, &call);
}

static int delete_flow(struct request *rq) {
    struct store_account account;
    struct store_flow flow;
    struct json answer;
    if (upstream_check_destructive(rq) || choose(rq, &account, &flow))
        return -1;
    struct graph_relay call = {.method = "DELETE", .path = request_segment(rq)};
    struct store *store = rq->caller->store;
    if (trail_leave(rq, store, flow.flow_id) || upstream_pass_on(rq, &account, &call, &answer))
        return -1;
    if (store_delete_flow(store, account.id, flow.flow_id) != STORE_OK)
        log_message(LOG_ERROR, "request %s: the row of a flow was not deleted: %s", rq->id,
                    store_reason(store));
    return 0;
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/forms",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_flows, .query = list_query},
    {.method = "GET", .path = "/v2/forms/search",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_search, .query = search_query},
    {.method = "GET", .path = "/v2/forms/:flowId",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_flow, .query = detail_query},
    {.method = "POST", .path = "/v2/forms",
     .trail = "flow.create",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_new, .query = account_query,
     .fields = create_fields},
    {.method = "PUT", .path = "/v2/forms/:flowId/json",
     .trail = "flow.assets",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = put_asset, .query = account_query,
     .fields = asset_fields},
    {.method = "POST", .path = "/v2/forms/:flowId/publish",
     .trail = "flow.publish",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_publish,
     .query = account_query},
    {.method = "POST", .path = "/v2/forms/:flowId/deprecate",
     .trail = "flow.deprecate",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_deprecate,
     .query = account_query},
    {.method = "DELETE", .path = "/v2/forms/:flowId",
     .trail = "flow.delete",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = delete_flow,
     .query = account_query},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "forms",
                                     .routes = routes,
                                     .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM,
                                     .load = http_prepare};
