/* /v2/outgoing: sends that clients have handed over (`Prefer: respond-async`), and what became of
 * them; /v2/opt-outs: who is not sent marketing. */
#include "api/auth.h"
#include "api/opt_outs.h"
#include "api/paging.h"
#include "api/send_check.h"
#include "api/thread_claim.h"
#include "base/clock.h"
#include "payload/graph_send.h"
#include "payload/outgoing_json.h"
#include "payload/recipient.h"
#include "store/line.h"

static const char *const states[] = {"queued",  "sending",   "accepted",   "failed", "unknown",
                                     "expired", "cancelled", "suppressed", NULL};

static const struct field list_query[] = {
    {.name = "phoneNumberId", .type = FIELD_STRING},
    {.name = "to", .type = FIELD_STRING, .rule = &recipient_any_rule, .example = "15550007000"},
    {.name = "state", .type = FIELD_STRING, .values = states},
    PAGING_FIELDS,
    {0},
};

/* Finds the line of the query, also an archived one: its rows stay. `*id` NULL: there is none in
 * the query. Returns 0, or -1 after failing the request. */
static int find_line(struct request *rq, const char **id) {
    const struct slice wanted = query_get(&rq->query, "phoneNumberId");
    const struct line_filter filter = {.view = &rq->caller->view};
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
    struct store_outgoing_filter filter = {.view = &rq->caller->view,
                                           .state = query_get(&rq->query, "state").p};
    const struct slice to = query_get(&rq->query, "to");
    struct store_page page;
    struct store_outgoing *rows;
    struct json_writer data;
    size_t count;
    if (paging_page(rq, "out_", &page) || find_line(rq, &filter.line_id))
        return -1;
    filter.recipient = to.p ? recipient_stored(rq->arena, to) : NULL;
    enum store_result result =
        store_list_outgoing(rq->caller->store, rq->arena, &filter, &page, &rows, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        outgoing_json_write(&data, &rows[i]);
    return paging_reply(rq, &data, has_more ? rows[count - 1].id : NULL);
}

static int write_row(struct request *rq, const struct store_outgoing *row) {
    struct json_writer data;
    json_write_start(&data, rq->arena);
    outgoing_json_write(&data, row);
    return reply_data(rq, json_written(&data));
}

/* Answers with the row of the path; fails for a store call before it that did not succeed. */
static int reply_row(struct request *rq, const char *id, enum store_result result) {
    struct store_outgoing row;
    if (result == STORE_OK)
        result = store_find_outgoing(rq->caller->store, rq->arena, &rq->caller->view, id, &row);
    if (result == STORE_OK)
        return write_row(rq, &row);
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT,
                    "The send is not queued any more, so it cannot be cancelled; GET "
                    "/v2/outgoing/:outgoingId has its state.");
    return state_fail_absent(rq, result, "There is no such send; GET /v2/outgoing lists them.");
}

static int get_row(struct request *rq) {
    return reply_row(rq, request_segment(rq), STORE_OK);
}

static int delete_row(struct request *rq) {
    const struct caller *caller = rq->caller;
    const char *id = request_segment(rq);
    struct store_outgoing row;
    enum store_result result =
        store_find_outgoing(caller->store, rq->arena, &caller->view, id, &row);
    request_release(rq); /* a view would hold an older state */
    if (result == STORE_OK)
        result = store_cancel_outgoing(caller->store, &caller->view, id, clock_now());
    return reply_row(rq, id, result);
}

/* --- sending again --- */

/* Why a row in a state is not sent again. */
static const struct {
    const char *state, *reason;
} refusals[] = {
    {"queued", "The send waits for its turn; only one that failed or expired can be sent again."},
    {"sending", "The send is being sent; only one that failed or expired can be sent again."},
    {"accepted", "The platform has accepted the send, so it is not sent again; the statuses of its "
                 "message say what became of that."},
    {"unknown", "Whether the platform accepted the send is not known, so it is not sent again: the "
                "recipient could get it twice. The first status of its message makes it accepted; "
                "a new send with the same content is made in any case."},
    {"cancelled", "The send was cancelled; only one that failed or expired can be sent again."},
    {"suppressed", "The send was not allowed any more, for its reason; only one that failed or "
                   "expired can be sent again."},
};

static int refuse_retry(struct request *rq, const struct store_outgoing *row) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strcmp(row->state, refusals[i].state) == 0)
            return fail(rq, CONFLICT, "%s", refusals[i].reason);
    return fail(rq, CONFLICT, "The text of the send is not kept any more; make a new send.");
}

static bool may_retry(const struct store_outgoing *row) {
    return row->body.n && (strcmp(row->state, "failed") == 0 || strcmp(row->state, "expired") == 0);
}

/* The row's body, with the id of another row for the statuses of its message. */
static struct slice body_for(struct request *rq, struct json body, const char *id) {
    static const char name[] = "biz_opaque_callback_data";
    struct json_writer out;
    json_write_start_object(&out, rq->arena);
    for (struct json member = json_first(body); json_is(member); member = json_next(member))
        if (!json_is_named(member, name))
            json_write_raw(&out, arena_copy(rq->arena, json_raw_name(member)), json_raw(member));
    json_write_text(&out, name, id);
    return json_written(&out);
}

/* Checks what every send through the line passes. */
static int check_send(struct request *rq, const struct store_outgoing *row,
                      const struct graph_send *sent) {
    return auth_choose_line(rq, row->phone_number_id) ||
                   send_check_blocked(rq, sent->phone, sent->bsuid) ||
                   claim_check(rq, sent->phone, sent->bsuid) || send_check_queue(rq)
               ? -1
               : 0;
}

/* Answers with the row that sends the message of the row `id` again. */
static int reply_retry(struct request *rq, const char *id) {
    const struct caller *caller = rq->caller;
    struct store_outgoing row;
    enum store_result result =
        store_find_outgoing(caller->store, rq->arena, &caller->view, id, &row);
    if (result == STORE_OK && !row.retried_as)
        return refuse_retry(rq, &row);
    if (result == STORE_OK)
        result = store_find_outgoing(caller->store, rq->arena, &caller->view, row.retried_as, &row);
    if (result == STORE_NOT_FOUND)
        return fail(rq, CONFLICT, "The send was sent again, by one that is not kept any more.");
    return result == STORE_OK ? write_row(rq, &row) : state_fail(rq, result);
}

/* Makes the row that sends the message of `row` again, as long after now as that was valid. */
static int make_retry(struct request *rq, const struct store_outgoing *row) {
    const struct caller *caller = rq->caller;
    struct graph_send sent;
    const char *error;
    char id[ID_SIZE];
    if (graph_send_read(rq->arena, "application/json", row->body, &sent, &error))
        return fail(rq, CONFLICT, "The text of the send cannot be sent: %s", error);
    if (check_send(rq, row, &sent))
        return -1;
    struct store_outgoing next = *row;
    id_make(id, "out_", rq->now);
    next.id = id;
    next.retry_of = row->id;
    next.body = body_for(rq, sent.body, id);
    next.send_at = next.created_at = rq->now;
    next.expires_at = rq->now + (row->expires_at - row->send_at);
    next.by = caller->actor;
    const struct store_addressee to = {&caller->view, row->account_id, row->line_id, sent.phone,
                                       sent.bsuid};
    bool is_of_colleague = false;
    enum store_result result = store_retry_outgoing(caller->store, &to, &next, &is_of_colleague);
    if (result == STORE_CONFLICT && is_of_colleague)
        return claim_fail(rq);
    if (result != STORE_OK && result != STORE_CONFLICT)
        return state_fail(rq, result);
    return reply_retry(rq, row->id);
}

/* A repeated request is answered with the row that the first one has made. */
static int post_retry(struct request *rq) {
    const struct caller *caller = rq->caller;
    const char *id = request_segment(rq);
    struct store_outgoing row;
    enum store_result result =
        store_find_outgoing(caller->store, rq->arena, &caller->view, id, &row);
    if (result != STORE_OK)
        return reply_row(rq, id, result);
    return row.retried_as || !may_retry(&row) ? reply_retry(rq, id) : make_retry(rq, &row);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/outgoing",
     .scope = SCOPE_READ, .lines = LINES_LISTED, .guard = &caller_guard, .handle = get_rows,
     .query = list_query},
    {.method = "GET", .path = "/v2/outgoing/:outgoingId",
     .scope = SCOPE_READ, .lines = LINES_BY_THREAD, .guard = &caller_guard, .handle = get_row},
    {.method = "DELETE", .path = "/v2/outgoing/:outgoingId",
     .trail = "outgoing.cancel",
     .scope = SCOPE_SEND, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = delete_row},
    {.method = "POST", .path = "/v2/outgoing/:outgoingId/retry",
     .trail = "outgoing.retry",
     .scope = SCOPE_SEND, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = post_retry, .fields = field_none},
    {.method = "GET", .path = "/v2/opt-outs",
     .scope = SCOPE_READ, .guard = &caller_guard, .handle = opt_outs_get,
     .query = opt_outs_query},
    {.method = "POST", .path = "/v2/opt-outs",
     .trail = "opt_out.create",
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = opt_outs_post,
     .fields = opt_outs_fields, .query = opt_outs_add_query},
    {.method = "DELETE", .path = "/v2/opt-outs",
     .trail = "opt_out.delete",
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = opt_outs_delete,
     .query = opt_outs_delete_query},
    {0},
};
/* clang-format on */

const struct service this_service = {
    .name = "outgoing", .routes = routes, .needs = WRITES_DATABASE};
