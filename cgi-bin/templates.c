/* /v2/templates: the platform's message templates (spec 4.4). */
#include "api/graph/graph_fields.h"
#include "api/list.h"
#include "api/media/sample.h"
#include "api/request_trail.h"
#include "api/selector.h"
#include "api/send.h"
#include "api/template_find.h"
#include "api/template_flows.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "base/utf8.h"
#include "store/flow.h"

enum { LOOKUP_WINDOW = 200, LONGEST_NAME = 512 }; /* spec 8 */

/* --- GET /v2/templates --- */

static const char *const reported_values[] = {"false", "true", NULL};

static const struct text_rule fields_rule = {
    .meaning = "names of members, separated by commas, without braces", .longest = 2048};

static const struct field list_query[] = {
    {.name = "limit", .type = FIELD_INTEGER, .min = 1},
    {.name = "after", .type = FIELD_STRING},
    {.name = "search", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "fields",
     .type = FIELD_STRING,
     .rule = &fields_rule,
     .example = "name,language,status,quality_score"},
    {.name = "reported", .type = FIELD_STRING, .values = reported_values},
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

static bool asks_reported(struct request *rq) {
    return slice_equal(query_get(&rq->query, "reported"), SLICE("true"));
}

/* The parameter `fields`, checked and percent-encoded; *encoded is NULL without it. */
static int read_fields(struct request *rq, const char **encoded) {
    struct slice list = query_get(&rq->query, "fields");
    *encoded = list.n ? graph_escape(rq->arena, list) : NULL;
    if (!list.n)
        return 0;
    if (query_get(&rq->query, "search").n && !slice_has_word(list, ',', SLICE("name")))
        return fail(rq, INVALID, "fields must have name, by which search finds templates.");
    if (asks_reported(rq) &&
        !(slice_has_word(list, ',', SLICE("name")) && slice_has_word(list, ',', SLICE("language"))))
        return fail(rq, INVALID,
                    "fields must have name and language, by which reported finds "
                    "templates.");
    return graph_check_list(rq, list, GRAPH_TEMPLATE);
}

static void write_time(struct json_writer *w, const char *name, int64_t at) {
    json_write_time_or_null(w, name, at ? at : INT64_MAX);
}

static void write_reported(struct json_writer *w, const struct store_template *row) {
    json_write_object(w, NULL);
    json_write_text(w, "name", row->name);
    json_write_text(w, "language", row->language);
    json_write_text(w, "category", row->category);
    json_write_text(w, "status", row->status);
    json_write_text(w, "reason", row->reason);
    write_time(w, "statusAt", row->status_at);
    json_write_text(w, "quality", row->quality);
    write_time(w, "qualityAt", row->quality_at);
    json_write_end(w);
}

/* Whether something was reported about this template, and not about one of the same name before. */
static bool is_reported(struct request *rq, struct json item, const struct store_template *row) {
    const char *id = json_text(json_get(item, "id"), rq->arena);
    return (row->status || row->quality || row->category) &&
           (!id || !row->template_id || strcmp(id, row->template_id) == 0);
}

/* Writes the member `reported`: what webhooks have reported about the items (spec 4.4). */
static int write_all_reported(struct json_writer *w, struct request *rq,
                              const struct store_account *account, struct json items) {
    struct store_template *rows = arena_alloc(rq->arena, (json_count(items) + 1) * sizeof *rows);
    struct json *of = arena_alloc(rq->arena, (json_count(items) + 1) * sizeof *of);
    size_t n = 0;
    for (struct json item = json_first(items); json_is(item); item = json_next(item)) {
        of[n] = item;
        rows[n] =
            (struct store_template){.name = json_text(json_get(item, "name"), rq->arena),
                                    .language = json_text(json_get(item, "language"), rq->arena)};
        n += rows[n].name && rows[n].language;
    }
    enum store_result result =
        store_find_templates(rq->caller->store, rq->arena, account->id, rows, n);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_array(w, "reported");
    for (size_t i = 0; i < n; i++)
        if (is_reported(rq, of[i], &rows[i]))
            write_reported(w, &rows[i]);
    json_write_end(w);
    return 0;
}

static int get_templates(struct request *rq) {
    struct slice search = query_get(&rq->query, "search");
    struct store_account account;
    const char *fields;
    if (selector_choose(rq, &account) || read_fields(rq, &fields))
        return -1;
    struct graph_page_request wanted = {.waba_id = account.waba_id,
                                        .edge = "message_templates",
                                        .fields = fields,
                                        .limit = query_integer(&rq->query, "limit", 0),
                                        .after = query_get(&rq->query, "after").p};
    struct graph_page page;
    if (list_get_page(rq, &account, &wanted, false, &page))
        return -1;
    template_flows_save(rq, &account, page.items);
    struct slice paging = graph_page_paging(rq->arena, &page);
    struct json_writer data;
    reply_start(rq, &data);
    if (search.n)
        write_matches(&data, rq, page.items, search);
    else
        json_write_raw(&data, "items", json_raw(page.items));
    if (paging.n)
        json_write_raw(&data, "paging", paging);
    if (asks_reported(rq) && write_all_reported(&data, rq, &account, page.items))
        return -1;
    return reply_object(rq, &data);
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
        if (list_get_page(rq, &account, &wanted, true, &page))
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
    QUOTING_FIELDS,
    {.name = "templateName", .type = FIELD_STRING, .required = true},
    {.name = "language", .type = FIELD_STRING},
    {.name = "components", .type = FIELD_ARRAY},
    {0},
};

static const struct field test_send_fields[] = {
    QUOTING_FIELDS,
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

/* --- POST /v2/templates, PATCH and DELETE /v2/templates/:name, POST .../unpause ---
 *
 * Bodies and answers are passed on byte for byte: the platform judges a template, not the gateway.
 */

static const struct field account_query[] = {SELECTOR_FIELDS, {0}};

/* Only the types are checked. */
static const char *const edit_names[] = {"category", "components", "message_send_ttl_seconds",
                                         NULL};

static const struct field edit_fields[] = {
    {.name = "category", .type = FIELD_STRING, .example = "UTILITY"},
    {.name = "components", .type = FIELD_ARRAY},
    {.name = "parameter_format", .type = FIELD_STRING},
    {.name = "message_send_ttl_seconds", .type = FIELD_STRING_OR_NUMBER},
    {.name = "cta_url_link_tracking_opted_out", .type = FIELD_BOOLEAN},
    {.type = FIELD_ONE_OF, .names = edit_names},
    {0},
};

static const char *const content_names[] = {"library_template_name", "components", NULL};

static const struct field create_fields[] = {
    {.name = "name", .type = FIELD_STRING, .required = true},
    {.name = "language", .type = FIELD_STRING, .required = true, .example = "en_US"},
    {.name = "category", .type = FIELD_STRING, .required = true, .example = "UTILITY"},
    {.name = "components", .type = FIELD_ARRAY},
    {.type = FIELD_ONE_OF, .names = content_names},
    {.name = "parameter_format", .type = FIELD_STRING},
    {.name = "sub_category", .type = FIELD_STRING},
    {.name = "message_send_ttl_seconds", .type = FIELD_STRING_OR_NUMBER},
    {.name = "allow_category_change", .type = FIELD_BOOLEAN},
    {.name = "cta_url_link_tracking_opted_out", .type = FIELD_BOOLEAN},
    {.name = "library_template_name", .type = FIELD_STRING},
    {0},
};

static const char *templates_path(struct request *rq, const struct store_account *account) {
    return arena_printf(rq->arena, "%s/message_templates",
                        graph_escape(rq->arena, slice_of(account->waba_id)));
}

static int post_new(struct request *rq) {
    struct store_account account;
    struct json answer;
    if (selector_choose(rq, &account))
        return -1;
    struct graph_relay call = {.method = "POST",
                               .path = templates_path(rq, &account),
                               .content_type = "application/json",
                               .body = rq->body};
    if (upstream_pass_on(rq, &account, &call, &answer))
        return -1;
    trail_leave_after(rq, rq->caller->store, json_text(json_get(answer, "id"), rq->arena));
    return 0;
}

/* Sets the account of a template that the path names. */
static int choose_account(struct request *rq, struct store_account *account) {
    return is_name(rq->parameters[0]) ? selector_choose(rq, account)
                                      : fail(rq, NOT_FOUND, "Template not found");
}

/* Finds account and id of the template that path and query name. */
static const char *choose(struct request *rq, struct store_account *account) {
    return choose_account(rq, account) ? NULL
                                       : template_find_id(rq, account, rq->parameters[0],
                                                          query_get(&rq->query, "language"));
}

/* Makes a POST to the template or to an edge of it ("": none). */
static int change(struct request *rq, const char *edge, struct slice body) {
    struct store_account account;
    struct json answer;
    const char *id = choose(rq, &account);
    if (!id)
        return -1;
    struct graph_relay call = {
        .method = "POST",
        .path = arena_printf(rq->arena, "%s%s", graph_escape(rq->arena, slice_of(id)), edge),
        .content_type = body.p ? "application/json" : NULL,
        .body = body};
    if (upstream_pass_on(rq, &account, &call, &answer))
        return -1;
    trail_leave_after(rq, rq->caller->store, id);
    return 0;
}

static int patch_template(struct request *rq) {
    return change(rq, "", rq->body);
}

static int post_unpause(struct request *rq) {
    return change(rq, "/unpause", (struct slice){NULL, 0});
}

/* Without a language all languages of the name are deleted. The row of the trail is left before the
 * call: what destroys something is in the trail. */
static int delete_template(struct request *rq) {
    struct slice name = rq->parameters[0], language = query_get(&rq->query, "language");
    struct store_account account;
    struct json found, answer;
    const char *id = NULL;
    if (upstream_check_destructive(rq) || choose_account(rq, &account))
        return -1;
    if (language.n ? !(id = template_find_id(rq, &account, name, language))
                   : template_find(rq, &account, name, language, "id,name,language", &found))
        return -1;
    struct graph_relay call = {
        .method = "DELETE",
        .path = templates_path(rq, &account),
        .query = slice_of(arena_printf(rq->arena, "%s%s%sname=%s", id ? "hsm_id=" : "",
                                       id ? graph_escape(rq->arena, slice_of(id)) : "",
                                       id ? "&" : "", graph_escape(rq->arena, name)))};
    if (trail_leave(rq, rq->caller->store, id ? id : arena_copy(rq->arena, name)))
        return -1;
    return upstream_pass_on(rq, &account, &call, &answer);
}

/* --- POST /v2/templates/sample --- */

static int reply_handle(struct request *rq, const char *handle) {
    struct json_writer w;
    reply_start(rq, &w);
    json_write_text(&w, "handle", handle);
    return reply_object(rq, &w);
}

static int post_sample(struct request *rq) {
    struct store_account account;
    struct upload upload = {.spool = -1};
    const char *handle;
    int failed = selector_choose(rq, &account) || upload_begin(&upload, rq, false) ||
                 upload_check_file(&upload) || sample_upload(&upload, &account, &handle);
    upload_end(&upload);
    return failed ? -1 : reply_handle(rq, handle);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/templates",
     .scope = SCOPE_BASIC, .lines = LINES_LISTED, .guard = &caller_guard,
     .handle = get_templates, .query = list_query},
    {.method = "GET", .path = "/v2/templates/:name",
     .scope = SCOPE_BASIC, .lines = LINES_LISTED, .guard = &caller_guard,
     .handle = get_template, .query = lookup_query},
    {.method = "POST", .path = "/v2/templates",
     .trail = "template.create",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_new, .query = account_query,
     .fields = create_fields},
    {.method = "POST", .path = "/v2/templates/sample",
     .trail = NO_TRAIL("a template that has the sample is the trace"),
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_sample, .query = account_query,
     .body = BODY_STREAM},
    {.method = "PATCH", .path = "/v2/templates/:name",
     .trail = "template.update",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = patch_template,
     .query = lookup_query, .fields = edit_fields},
    {.method = "DELETE", .path = "/v2/templates/:name",
     .trail = "template.delete",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = delete_template,
     .query = lookup_query},
    {.method = "POST", .path = "/v2/templates/:name/unpause",
     .trail = "template.unpause",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_unpause,
     .query = lookup_query},
    {.method = "POST", .path = "/v2/templates/send",
     .trail = TRAIL_MESSAGE,
     .scope = SCOPE_SEND, .lines = LINES_BY_BODY, .guard = &line_guard,
     .handle = post_template, .fields = send_fields},
    {.method = "POST", .path = "/v2/templates/:name/test-send",
     .trail = TRAIL_MESSAGE,
     .scope = SCOPE_SEND, .lines = LINES_BY_BODY, .guard = &line_guard,
     .handle = post_test_send, .fields = test_send_fields},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "templates",
                                     .routes = routes,
                                     .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM |
                                              SPOOLS_FILES | KEEPS_RECORDS,
                                     .load = http_prepare};
