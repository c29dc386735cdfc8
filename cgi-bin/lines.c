/* /v2/lines: the caller's lines, archived ones too, and their names and states (spec 2.2). */
#include "api/auth.h"
#include "api/paging.h"
#include "api/view/account_view.h"

/* --- GET /v2/lines --- */

static const char *const archived_values[] = {"false", "true", "all", NULL};

static const struct field list_query[] = {
    {.name = "archived", .type = FIELD_STRING, .values = archived_values},
    {0},
};

static int get_lines(struct request *rq) {
    struct slice archived = query_get(&rq->query, "archived");
    const bool all = slice_equal(archived, SLICE("all"));
    const bool wants_archived = slice_equal(archived, SLICE("true"));
    struct line *lines;
    size_t count;
    struct json_writer data;
    enum store_result result =
        store_list_lines(rq->caller->store, rq->arena,
                         &(struct line_filter){.view = &rq->caller->view}, &lines, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        if (all || (lines[i].archived_at != INT64_MAX) == wants_archived)
            line_view_write(&data, NULL, &lines[i]);
    return paging_reply_cursor(rq, &data, NULL);
}

/* --- one line --- */

static int fail_line(struct request *rq, enum store_result result) {
    return state_fail_absent(rq, result,
                             "There is no line with this id: GET /v2/lines lists them.");
}

static int get_line(struct request *rq) {
    struct line line;
    struct json_writer data;
    enum store_result result = store_find_line_by_id(rq->caller->store, rq->arena,
                                                     &rq->caller->view, request_segment(rq), &line);
    if (result != STORE_OK)
        return fail_line(rq, result);
    json_write_start(&data, rq->arena);
    line_view_write(&data, NULL, &line);
    return reply_data(rq, json_written(&data));
}

static const struct text_rule name_rule = {.meaning = "a name of at most 256 bytes",
                                           .longest = 256};

static const struct field line_fields[] = {
    {.name = "name",
     .type = FIELD_STRING,
     .may_be_empty = true,
     .rule = &name_rule,
     .example = "Front desk"},
    {.name = "isPrimary", .type = FIELD_BOOLEAN},
    {.name = "isArchived", .type = FIELD_BOOLEAN},
    {0},
};

/* Reads the change. Rules that a field table does not express become issues. */
static int read_change(struct request *rq, struct line_change *change) {
    struct issues issues;
    struct json name = json_get(rq->json, "name");
    struct json primary = json_get(rq->json, "isPrimary");
    struct json archived = json_get(rq->json, "isArchived");
    const char *text = json_text(name, rq->arena);
    *change = (struct line_change){
        .sets_name = json_type(name) == JSON_STRING,
        .name = text && *text ? text : NULL,
        .makes_primary = json_type(primary) == JSON_TRUE,
        .archives = json_type(archived) == JSON_TRUE,
        .restores = json_type(archived) == JSON_FALSE,
        .now = rq->now,
    };
    request_start_issues(rq, &issues);
    if (change->sets_name && !text)
        issues_add(&issues, "name", "invalid_value", "must hold no NUL character");
    if (json_type(primary) == JSON_FALSE)
        issues_add(&issues, "isPrimary", "invalid_value",
                   "must be true, or left out: make another line the primary one");
    return fail_on_issues(rq, &issues);
}

static int fail_primary(struct request *rq) {
    return fail_on_issue(rq, "isPrimary", "invalid_value",
                         "must be left out: an archived line cannot be the primary one; bring it "
                         "back with isArchived false");
}

static int patch_line(struct request *rq) {
    struct line_change change;
    if (read_change(rq, &change))
        return -1;
    enum store_result result =
        store_change_line(rq->caller->store, rq->caller->user.id, request_segment(rq), &change);
    if (result == STORE_CONFLICT)
        return fail_primary(rq);
    return result == STORE_OK ? get_line(rq) : fail_line(rq, result);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/lines",
     .scope = SCOPE_BASIC, .lines = LINES_LISTED, .guard = &caller_guard,
     .handle = get_lines, .query = list_query},
    {.method = "GET", .path = "/v2/lines/:lineId",
     .scope = SCOPE_BASIC, .lines = LINES_LISTED, .guard = &caller_guard, .handle = get_line},
    {.method = "PATCH", .path = "/v2/lines/:lineId",
     .trail = "line.update",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = patch_line, .fields = line_fields},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "lines", .routes = routes, .needs = WRITES_DATABASE};
