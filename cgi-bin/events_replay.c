/* /v2/events/replay and /v2/events/:eventId/replay: delivers events again. */
#include "api/auth.h"
#include "api/period.h"
#include "api/view/event_view.h"
#include "delivery/wake.h"
#include "store/event_replay.h"

static int fail_replay(struct request *rq, enum store_result result) {
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT,
                    "There is no webhook to deliver to; POST /v2/webhooks/config sets one.");
    return state_fail_absent(rq, result, "There is no such event; GET /v2/events lists them.");
}

static int post_replay_one(struct request *rq) {
    const struct caller *caller = rq->caller;
    const char *id = request_segment(rq);
    struct store_event_entry event;
    enum store_result result = store_replay_event(caller->store, caller->user.id, id, rq->now);
    if (result == STORE_OK) {
        wake_notify(rq->config);
        result = store_find_event(caller->store, rq->arena, caller->user.id, id, &event);
    }
    return result == STORE_OK ? event_view_reply(rq, &event) : fail_replay(rq, result);
}

static int post_replay(struct request *rq) {
    const struct caller *caller = rq->caller;
    const int64_t since = period_time(json_string(json_get(rq->json, "since"), rq->arena), 0);
    const bool retrying = json_type(json_get(rq->json, "retrying")) == JSON_TRUE;
    size_t count;
    bool more;
    enum store_result result = store_replay_failed_events(caller->store, caller->user.id, since,
                                                          retrying, rq->now, &count, &more);
    if (result != STORE_OK)
        return fail_replay(rq, result);
    wake_notify(rq->config);
    struct json_writer data;
    reply_start(rq, &data);
    json_write_integer(&data, "replayed", (int64_t)count);
    json_write_bool(&data, "more", more);
    return reply_object(rq, &data);
}

static const struct field replay_fields[] = {
    {PERIOD_TIME("since"), .required = true},
    {.name = "retrying", .type = FIELD_BOOLEAN},
    {0},
};

/* clang-format off */
static const struct route routes[] = {
    {.method = "POST", .path = "/v2/events/replay",
     .trail = "event.replay",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = post_replay, .fields = replay_fields},
    {.method = "POST", .path = "/v2/events/:eventId/replay",
     .trail = "event.replay",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = post_replay_one,
     .fields = field_none},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "events_replay",
                                     .routes = routes,
                                     .needs = WRITES_DATABASE | NOTIFIES_COURIER,
                                     .takes_rewrites = true};
