/* GET /v2/trail: who changed what in the workspace. */
#include <stdio.h>

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
    const size_t limit = paging_limit(rq);
    struct store_trail_row *rows;
    struct json_writer data;
    size_t count;
    filter->limit = limit + 1; /* one more: whether others follow */
    enum store_result result =
        store_list_trail(rq->caller->store, rq->arena, filter, &rows, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const size_t shown = count < limit ? count : limit;
    paging_start(rq, &data);
    for (size_t i = 0; i < shown; i++) {
        json_write_object(&data, NULL);
        trail_json_write(&data, &rows[i]);
        json_write_end(&data);
    }
    return paging_reply(rq, &data, count > limit ? rows[shown - 1].id : NULL);
}

/* --- CSV: all rows that the filter has, newest first --- */

/* Writes the lines of the next rows, and sets `before` to the id of the last one. `*more`: others
 * may follow. */
static enum store_result write_page(struct request *rq, struct arena *arena,
                                    struct store_trail_filter *filter, char before[ID_SIZE],
                                    bool *more) {
    struct buffer lines = buffer_in(arena);
    struct store_trail_row *rows;
    size_t count;
    state_hold_view(rq);
    enum store_result result = store_list_trail(rq->caller->store, arena, filter, &rows, &count);
    request_release(rq);
    *more = result == STORE_OK && count == filter->limit;
    if (result != STORE_OK || !count)
        return result;
    for (size_t i = 0; i < count; i++)
        trail_csv_add(&lines, &rows[i]);
    snprintf(before, ID_SIZE, "%s", rows[count - 1].id);
    filter->before = before;
    if (reply_more(rq, buffer_slice(&lines)))
        *more = false;
    return STORE_OK;
}

/* The status is sent already, so a failure becomes the last line. */
static int reply_csv(struct request *rq, struct store_trail_filter *filter) {
    struct buffer head = buffer_in(rq->arena);
    struct arena arena;
    char before[ID_SIZE];
    enum store_result result = STORE_OK;
    bool more = true;
    filter->limit = CSV_ROWS_AT_ONCE;
    trail_csv_head(&head);
    reply_header(rq, "Content-Disposition", "attachment; filename=\"trail.csv\"");
    if (reply_stream(rq, 200, "text/csv; charset=utf-8; header=present", -1) || rq->head ||
        reply_more(rq, buffer_slice(&head)))
        return 0;
    arena_init(&arena, rq->arena->cap, rq->arena->exhausted);
    for (; more && result == STORE_OK; arena_reset(&arena))
        result = write_page(rq, &arena, filter, before, &more);
    arena_free(&arena);
    if (result == STORE_OK)
        return 0;
    reply_more(rq, SLICE("#ERROR: the list is incomplete; request it again\r\n"));
    return state_fail(rq, result);
}

static int get_trail(struct request *rq) {
    const struct query *query = &rq->query;
    struct store_trail_filter filter = {
        .user_id = rq->caller->user.id,
        .actor = query_get(query, "actor").p,
        .action = query_get(query, "action").p,
        .object_id = query_get(query, "object").p,
    };
    if (paging_after(rq, "trl_", &filter.before))
        return -1;
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

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "trail", .routes = routes, .needs = READS_DATABASE},
                 argc, argv);
}
