/* /v2/outgoing: sends that clients have handed over (`Prefer: respond-async`), and what became of
 * them. */
#include "api/auth.h"
#include "api/paging.h"
#include "base/clock.h"
#include "payload/outgoing_json.h"
#include "store/line.h"

static const char *const states[] = {"queued",  "sending",   "accepted",   "failed", "unknown",
                                     "expired", "cancelled", "suppressed", NULL};

static const struct field list_query[] = {
    {.name = "phoneNumberId", .type = FIELD_STRING},
    {.name = "state", .type = FIELD_STRING, .values = states},
    PAGING_FIELDS,
    {0},
};

static int reply_rows(struct request *rq, const struct store_outgoing *rows, size_t count,
                      size_t limit) {
    const size_t shown = count < limit ? count : limit;
    struct json_writer data;
    paging_start(rq, &data);
    for (size_t i = 0; i < shown; i++) {
        json_write_object(&data, NULL);
        outgoing_json_write(&data, &rows[i]);
        json_write_end(&data);
    }
    return paging_reply(rq, &data, count > limit ? rows[shown - 1].id : NULL);
}

/* Finds the line of the query, also an archived one: its rows stay. `*id` NULL: there is none in
 * the query. Returns 0, or -1 after failing the request. */
static int find_line(struct request *rq, const char **id) {
    const struct slice wanted = query_get(&rq->query, "phoneNumberId");
    const struct line_filter filter = {.user_id = rq->caller->user.id};
    struct line *lines;
    size_t count;
    *id = NULL;
    if (!wanted.p)
        return 0;
    enum store_result result =
        store_list_lines(rq->caller->store, rq->arena, &filter, &lines, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i].phone_number_id, wanted.p) == 0)
            *id = lines[i].id;
    return *id ? 0 : auth_fail_line(rq);
}

static int get_rows(struct request *rq) {
    struct store_outgoing_filter filter = {.user_id = rq->caller->user.id,
                                           .state = query_get(&rq->query, "state").p};
    const size_t limit = paging_limit(rq);
    struct store_page page = {.limit = limit + 1}; /* one more: whether others follow */
    struct store_outgoing *rows;
    size_t count;
    if (paging_after(rq, "out_", &page.after) || find_line(rq, &filter.line_id))
        return -1;
    enum store_result result =
        store_list_outgoing(rq->caller->store, rq->arena, &filter, &page, &rows, &count);
    return result == STORE_OK ? reply_rows(rq, rows, count, limit) : state_fail(rq, result);
}

/* Answers with the row of the path; fails for a store call before it that did not succeed. */
static int reply_row(struct request *rq, const char *id, enum store_result result) {
    struct store_outgoing row;
    struct json_writer data;
    if (result == STORE_OK)
        result = store_find_outgoing(rq->caller->store, rq->arena, rq->caller->user.id, id, &row);
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND, "There is no such send; GET /v2/outgoing lists them.");
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT,
                    "The send is not queued any more, so it cannot be cancelled; GET "
                    "/v2/outgoing/:outgoingId has its state.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    outgoing_json_write(&data, &row);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

static int get_row(struct request *rq) {
    return reply_row(rq, arena_copy(rq->arena, rq->parameters[0]), STORE_OK);
}

static int delete_row(struct request *rq) {
    const char *id = arena_copy(rq->arena, rq->parameters[0]);
    return reply_row(
        rq, id, store_cancel_outgoing(rq->caller->store, rq->caller->user.id, id, clock_now()));
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/outgoing",
     .scope = SCOPE_READ, .guard = &caller_guard, .handle = get_rows, .query = list_query},
    {.method = "GET", .path = "/v2/outgoing/:outgoingId",
     .scope = SCOPE_READ, .guard = &caller_guard, .handle = get_row},
    {.method = "DELETE", .path = "/v2/outgoing/:outgoingId",
     .trail = "outgoing.cancel",
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = delete_row},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "outgoing", .routes = routes, .needs = WRITES_DATABASE},
                 argc, argv);
}
