/* /v2/templates: the platform's message templates (spec 4.4). */
#include "api/list.h"
#include "api/selector.h"
#include "api/send.h"
#include "api/template_flows.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "base/utf8.h"

enum { LOOKUP_WINDOW = 200, LONGEST_NAME = 512 }; /* spec 8 */

/* --- GET /v2/templates --- */

static const struct field list_query[] = {
    {.name = "limit", .type = FIELD_INTEGER, .min = 1},
    {.name = "after", .type = FIELD_STRING},
    {.name = "search", .type = FIELD_STRING, .may_be_empty = true},
    SELECTOR_FIELDS,
    {0},
};

/* Whether `name` contains `part`, ignoring the case of ASCII letters. */
static bool contains(struct slice name, struct slice part) {
    for (size_t i = 0; i + part.n <= name.n; i++)
        if (strncasecmp(name.p + i, part.p, part.n) == 0)
            return true;
    return false;
}

static void write_matches(struct json_writer *w, struct request *rq, struct json items,
                          struct slice search) {
    json_write_array(w, "items");
    for (struct json item = json_first(items); json_is(item); item = json_next(item))
        if (contains(json_string(json_get(item, "name"), rq->arena), search))
            json_write_raw(w, NULL, json_raw(item));
    json_write_end(w);
}

static int get_templates(struct request *rq) {
    struct slice search = query_get(&rq->query, "search");
    struct store_account account;
    if (selector_choose(rq, &account))
        return -1;
    struct graph_page_request wanted = {.waba_id = account.waba_id,
                                        .edge = "message_templates",
                                        .limit = query_integer(&rq->query, "limit", 0),
                                        .after = query_get(&rq->query, "after").p};
    struct graph_page page;
    if (list_get_page(rq, &account, &wanted, &page))
        return -1;
    template_flows_save(rq, &account, page.items);
    struct slice paging = graph_page_paging(rq->arena, &page);
    struct json_writer data;
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    if (search.n)
        write_matches(&data, rq, page.items, search);
    else
        json_write_raw(&data, "items", json_raw(page.items));
    if (paging.n)
        json_write_raw(&data, "paging", paging);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

/* --- GET /v2/templates/:name --- */

static const struct field lookup_query[] = {
    {.name = "language", .type = FIELD_STRING},
    SELECTOR_FIELDS,
    {0},
};

static bool is_name(struct slice name) {
    return name.n >= 1 && name.n <= LONGEST_NAME && utf8_valid(name);
}

static bool matches(struct request *rq, struct json template) {
    struct slice name = rq->parameters[0], language = query_get(&rq->query, "language");
    return slice_equal(json_string(json_get(template, "name"), rq->arena), name) &&
           (!language.p ||
            slice_equal(json_string(json_get(template, "language"), rq->arena), language));
}

/* The first match on a page among the next `*left` templates, which are counted down; absent when
 * there is none. */
static struct json find_match(struct request *rq, struct json items, int64_t *left) {
    struct json item = json_first(items);
    for (; json_is(item) && *left; item = json_next(item), --*left)
        if (matches(rq, item))
            return item;
    return (struct json){0};
}

static int get_template(struct request *rq) {
    struct store_account account;
    if (!is_name(rq->parameters[0]))
        return fail(rq, NOT_FOUND, "Template not found");
    if (selector_choose(rq, &account))
        return -1;
    struct graph_page_request wanted = {
        .waba_id = account.waba_id, .edge = "message_templates", .limit = LOOKUP_WINDOW};
    int64_t left = LOOKUP_WINDOW;
    do {
        struct graph_page page;
        wanted.limit = wanted.limit < left ? wanted.limit : left;
        if (list_get_page_halving(rq, &account, &wanted, &page))
            return -1;
        template_flows_save(rq, &account, page.items);
        struct json found = find_match(rq, page.items, &left);
        if (json_is(found))
            return reply_data(rq, json_raw(found));
        wanted.after = json_count(page.items) ? graph_page_next(rq->arena, &page) : NULL;
    } while (wanted.after && left);
    return fail(rq, NOT_FOUND, "Template not found");
}

/* --- POST /v2/templates/send, POST /v2/templates/:name/test-send --- */

static const struct field send_fields[] = {
    SEND_FIELDS,
    CONTEXT_FIELD,
    {.name = "templateName", .type = FIELD_STRING, .required = true},
    {.name = "language", .type = FIELD_STRING},
    {.name = "components", .type = FIELD_ARRAY},
    {0},
};

static const struct field test_send_fields[] = {
    SEND_FIELDS,
    CONTEXT_FIELD,
    {.name = "language", .type = FIELD_STRING},
    {.name = "components", .type = FIELD_ARRAY},
    {0},
};

/* The name in the path of a test-send; else templateName of the body. */
static struct slice template_name(struct request *rq) {
    return rq->parameters[0].p ? rq->parameters[0]
                               : json_string(json_get(rq->json, "templateName"), rq->arena);
}

/* The components are copied unchanged and not checked (spec 2.9). */
static void write_template(struct json_writer *out, struct request *rq) {
    if (rq->parameters[0].p)
        json_write_string(out, "name", rq->parameters[0]);
    else
        send_copy(out, "name", rq->json, "templateName");
    json_write_object(out, "language");
    if (json_is(json_get(rq->json, "language")))
        send_copy(out, "code", rq->json, "language");
    else
        json_write_text(out, "code", "en_US");
    json_write_end(out);
    send_copy(out, "components", rq->json, "components");
}

/* The flow_token in the components of the send; NULL when there is none. */
static const char *flow_token(struct request *rq) {
    struct json components = json_get(rq->json, "components");
    for (struct json c = json_first(components); json_is(c); c = json_next(c)) {
        struct json parameters = json_get(c, "parameters");
        for (struct json p = json_first(parameters); json_is(p); p = json_next(p)) {
            const char *token = json_text(json_find(p, "action.flow_token"), rq->arena);
            if (token)
                return token;
        }
    }
    return NULL;
}

static void complete_record(struct request *rq, struct store_send *send) {
    const char *language = json_text(json_get(rq->json, "language"), rq->arena);
    send->template_name = arena_copy(rq->arena, template_name(rq));
    send->template_language = language ? language : "en_US";
    send->flow_token = flow_token(rq);
}

static const struct message_kind template = {.type = "template",
                                             .fields = send_fields,
                                             .write = write_template,
                                             .complete_record = complete_record};

static int post_template(struct request *rq) {
    return send_message(rq, &template);
}

static int post_test_send(struct request *rq) {
    return is_name(rq->parameters[0]) ? send_message(rq, &template)
                                      : fail(rq, NOT_FOUND, "Template not found");
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/templates",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_templates, .query = list_query},
    {.method = "GET", .path = "/v2/templates/:name",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_template, .query = lookup_query},
    {.method = "POST", .path = "/v2/templates/send",
     .trail = TRAIL_MESSAGE,
     .scope = SCOPE_SEND, .guard = &line_guard, .handle = post_template, .body = BODY_JSON,
     .fields = send_fields},
    {.method = "POST", .path = "/v2/templates/:name/test-send",
     .trail = TRAIL_MESSAGE,
     .scope = SCOPE_SEND, .guard = &line_guard, .handle = post_test_send, .body = BODY_JSON,
     .fields = test_send_fields},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(
        &(struct service){.name = "templates",
                          .routes = routes,
                          .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM | KEEPS_RECORDS,
                          .load = http_prepare},
        argc, argv);
}
