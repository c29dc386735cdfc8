/* /v2/events: the events of the caller's webhook and the attempts to deliver them. */
#include "api/auth.h"
#include "api/paging.h"
#include "api/period.h"
#include "api/view/event_view.h"

static const char *const states[] = {"pending", "done", "dead", "cancelled", NULL};
static const char *const flags[] = {"true", "false", NULL};

static const struct field list_query[] = {
    {.name = "state", .type = FIELD_STRING, .values = states},
    {.name = "type", .type = FIELD_STRING},
    {.name = "webhookId", .type = FIELD_STRING},
    {.name = "q", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "failed", .type = FIELD_STRING, .values = flags},
    {PERIOD_TIME("since")},
    {PERIOD_TIME("until")},
    PAGING_FIELDS,
    {0},
};

/* What is searched for is known by the beginning of its id; any other text is that of a message. */
static void set_sought(struct store_event_filter *filter, const char *q) {
    if (!q || !*q)
        return;
    if (strncmp(q, "evt_", 4) == 0)
        filter->event_id = q;
    else if (strncmp(q, "con_", 4) == 0)
        filter->contact_id = q;
    else
        filter->wamid = q;
}

static int get_events(struct request *rq) {
    const struct query *query = &rq->query;
    struct store_page page;
    struct store_event_filter filter = {
        .state = query_get(query, "state").p,
        .type = query_get(query, "type").p,
        .webhook_id = query_get(query, "webhookId").p,
        .failed = slice_equal(query_get(query, "failed"), SLICE("true")),
        .since = period_time(query_get(query, "since"), 0),
        .until = period_time(query_get(query, "until"), INT64_MAX),
    };
    struct store_event_entry *events;
    struct json_writer data;
    size_t count;
    set_sought(&filter, query_get(query, "q").p);
    if (paging_page(rq, "evt_", &page))
        return -1;
    enum store_result result = store_list_user_events(
        rq->caller->store, rq->arena, rq->caller->user.id, &filter, &page, &events, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++) {
        json_write_object(&data, NULL);
        event_view_write(&data, &events[i]);
        json_write_end(&data);
    }
    return paging_reply(rq, &data, has_more ? events[count - 1].id : NULL);
}

static int get_event(struct request *rq) {
    struct store_event_entry event;
    enum store_result result = store_find_event(rq->caller->store, rq->arena, rq->caller->user.id,
                                                request_segment(rq), &event);
    if (result == STORE_OK)
        return event_view_reply(rq, &event);
    return state_fail_absent(rq, result, "There is no such event; GET /v2/events lists them.");
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/events",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = get_events, .query = list_query},
    {.method = "GET", .path = "/v2/events/:eventId",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = get_event},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "events", .routes = routes, .needs = READS_DATABASE};
