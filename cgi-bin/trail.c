/* GET /v2/trail: who changed what in the workspace. */
#include "api/auth.h"
#include "api/paging.h"
#include "payload/trail_row.h"

enum { CSV_ROWS_AT_ONCE = 500 };

static const char *const formats[] = {"json", "csv", NULL};

static const struct field list_query[] = {
    {.name = "actor", .type = FIELD_STRING},
    {.name = "action", .type = FIELD_STRING},
    {.name = "object", .type = FIELD_STRING},
    {.name = "format", .type = FIELD_STRING, .values = formats},
    PAGING_FIELDS,
    {0},
};

/* --- JSON --- */

static int reply_json(struct request *rq, struct store_trail_filter *filter) {
    struct store_trail_row *rows;
    struct json_writer data;
    size_t count;
    enum store_result result =
        store_list_trail(rq->caller->store, rq->arena, filter, &rows, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++) {
        json_write_object(&data, NULL);
        trail_json_write(&data, &rows[i]);
        json_write_end(&data);
    }
    return paging_reply(rq, &data, has_more ? rows[count - 1].id : NULL);
}

/* --- CSV: all rows that the filter has, newest first --- */

static enum store_result add_page(struct request *rq, void *list, struct buffer *lines,
                                  bool *more) {
    struct store_trail_filter *filter = list;
    struct store_trail_row *rows;
    size_t count;
    state_hold_view(rq);
    enum store_result result =
        store_list_trail(rq->caller->store, lines->arena, filter, &rows, &count);
    request_release(rq);
    *more = result == STORE_OK && count == filter->limit;
    for (size_t i = 0; result == STORE_OK && i < count; i++)
        trail_csv_add(lines, &rows[i]);
    if (*more)
        filter->before = arena_copy(rq->arena, slice_of(rows[count - 1].id));
    return result;
}

static int reply_csv(struct request *rq, struct store_trail_filter *filter) {
    struct buffer head = buffer_in(rq->arena);
    filter->limit = CSV_ROWS_AT_ONCE;
    trail_csv_head(&head);
    return paging_reply_csv(rq, "trail", buffer_slice(&head), add_page, filter);
}

static int get_trail(struct request *rq) {
    const struct query *query = &rq->query;
    struct store_page page;
    if (paging_page(rq, "trl_", &page))
        return -1;
    struct store_trail_filter filter = {
        .user_id = rq->caller->user.id,
        .actor = query_get(query, "actor").p,
        .action = query_get(query, "action").p,
        .object_id = query_get(query, "object").p,
        .before = page.after,
        .limit = page.limit,
    };
    return slice_equal(query_get(query, "format"), SLICE("csv")) ? reply_csv(rq, &filter)
                                                                 : reply_json(rq, &filter);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/trail",
     .scope = SCOPE_TEAM, .guard = &session_guard, .handle = get_trail, .query = list_query},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "trail", .routes = routes, .needs = READS_DATABASE};
