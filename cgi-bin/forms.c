/* /v2/forms: the platform's flows, and the rows stored for them here (spec 4.5). */
#include <ctype.h>

#include "api/list.h"
#include "api/selector.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "base/log.h"
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

/* --- GET /v2/forms --- */

static const struct field list_query[] = {
    {.name = "limit", .type = FIELD_INTEGER, .min = 1},
    {.name = "after", .type = FIELD_STRING},
    SELECTOR_FIELDS,
    {0},
};

static int get_flows(struct request *rq) {
    struct store_account account;
    if (selector_choose(rq, &account))
        return -1;
    struct graph_page_request wanted = {.waba_id = account.waba_id,
                                        .edge = "flows",
                                        .limit = query_integer(&rq->query, "limit", 25),
                                        .after = query_get(&rq->query, "after").p};
    struct graph_page page;
    struct store_flow *flows;
    if (list_get_page(rq, &account, &wanted, &page))
        return -1;
    size_t count = flow_read_all(rq->arena, page.items, &flows);
    save_flows(rq, &account, flows, count);
    struct slice paging = graph_page_paging(rq->arena, &page);
    struct json_writer data;
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_raw(&data, "items", json_raw(page.items));
    json_write_raw(&data, "paging", paging.n ? paging : SLICE("{\"cursors\":{}}"));
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
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
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_array(&data, "items");
    for (size_t i = 0; i < count; i++)
        write_row(&data, &flows[i]);
    json_write_end(&data);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

/* --- GET /v2/forms/:flowId --- */

static const struct field detail_query[] = {SELECTOR_FIELDS, {0}};

/* The id becomes the path of a call, where any other text could address another object. */
static bool is_flow_id(struct slice id) {
    for (size_t i = 0; i < id.n; i++)
        if (!isalnum((unsigned char)id.p[i]) && id.p[i] != '-' && id.p[i] != '_')
            return false;
    return id.n <= 128;
}

static int get_flow(struct request *rq) {
    struct slice id = rq->parameters[0];
    struct store_account account;
    struct store_flow flow;
    struct json answer;
    if (!id.n)
        return fail(rq, INVALID, "The flow id is empty: call /v2/forms/FLOW_ID.");
    if (!is_flow_id(id))
        return fail(rq, NOT_FOUND, "There is no such flow: ids hold letters, digits, - and _.");
    if (selector_choose(rq, &account))
        return -1;
    struct graph_call call = {.method = "GET",
                              .path = arena_copy(rq->arena, id),
                              .token = state_account_token(rq, &account)};
    if (!call.token || upstream_call(rq, UPSTREAM_LIST, &call, &answer))
        return -1;
    if (json_type(answer) != JSON_OBJECT)
        return fail_with_details(rq, INTERNAL, json_raw(answer),
                                 "The platform's answer is no flow.");
    /* the id of an account or a line is answered too, but such an object has no status */
    if (flow_read(rq->arena, answer, &flow) && *flow.status)
        save_flows(rq, &account, &flow, 1);
    return reply_data(rq, json_raw(answer));
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/forms",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_flows, .query = list_query},
    {.method = "GET", .path = "/v2/forms/search",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_search, .query = search_query},
    {.method = "GET", .path = "/v2/forms/:flowId",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_flow, .query = detail_query},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "forms",
                                   .routes = routes,
                                   .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM,
                                   .load = http_prepare},
                 argc, argv);
}
