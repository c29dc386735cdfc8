/* What a user asks about the own installation: GET /v2/overview, the state of plan, lines, webhook
 * and courier; GET /v2/usage, messages per day; GET /v2/requests, the last calls of this API. */
#include <stdlib.h>

#include "api/auth.h"
#include "api/paging.h"
#include "api/period.h"
#include "api/view/account_view.h"
#include "api/view/inbox_json.h"
#include "base/clock.h"
#include "base/request_log.h"
#include "store/heartbeat.h"
#include "store/upkeep.h"
#include "store/usage.h"
#include "store/user_state.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };

/* --- GET /v2/overview --- */

enum {
    PLAN_ENDS_SOON_DAYS = 7, /* a warning, before the plan ends */
    SILENT_HOURS = 24,       /* a warning, when a line sends and no webhook arrives for so long */
    SENT_DAYS = 7,           /* for which sends are looked at */
    GRACE_HOURS = 2,         /* in which the first status of a send arrives */
};

struct view {
    struct request *rq;
    const struct store_user *user;
    struct store_account *accounts;
    size_t account_count;
    struct line *lines;
    size_t line_count;
    struct store_user_state found;
    struct usage_period usage; /* of this clock hour and the one before */
    int64_t usage_since;
    struct usage_last *last; /* of each line */
    struct store_pulse courier;
    int64_t token_used_at; /* INT64_MAX: not known */
    struct inbox_counts inbox;
};

static enum store_result read_view(struct view *view) {
    struct request *rq = view->rq;
    struct store *store = rq->caller->store;
    const char *user_id = view->user->id;
    const int64_t hour = rq->now / USAGE_HOUR_MS - 1;
    view->usage_since = hour * USAGE_HOUR_MS;
    enum store_result result =
        store_list_accounts(store, rq->arena, user_id, &view->accounts, &view->account_count);
    if (result == STORE_OK)
        result = store_list_lines(
            store, rq->arena, &(struct line_filter){&rq->caller->view, .is_without_archived = true},
            &view->lines, &view->line_count);
    view->last = arena_alloc(rq->arena, (view->line_count + 1) * sizeof *view->last);
    if (result == STORE_OK)
        result = store_find_last_usage(store, user_id, hour - SENT_DAYS * 24 - SILENT_HOURS,
                                       hour + 1 - GRACE_HOURS, view->lines, view->line_count,
                                       view->last);
    if (result == STORE_OK)
        result = store_find_user_state(store, rq->arena, user_id, &view->found);
    if (result == STORE_OK)
        result = store_sum_usage(store, user_id, NULL, hour, 2, &view->usage, 1);
    if (result == STORE_OK)
        result = store_find_pulse(store, "courier", &view->courier);
    if (result == STORE_OK)
        result = inbox_count(store, &rq->caller->view, &view->inbox);
    return result;
}

/* The time of the last recorded request with the main token. */
static int64_t find_token_use(const char *user_id) {
    struct request_record record;
    uint64_t before = UINT64_MAX;
    while (request_log_next(user_id, &before, &record))
        if (!record.is_session && !record.is_scoped)
            return record.time;
    return INT64_MAX;
}

static bool is_active(const struct view *view) {
    const struct store_user *user = view->user;
    return user->plan_name && user->plan_ends_at > view->rq->now;
}

static bool is_courier_running(const struct view *view) {
    return heartbeat_is_running(&view->courier, view->rq->now);
}

static void write_user(struct json_writer *out, const struct view *view) {
    json_write_object(out, "user");
    json_write_text(out, "id", view->user->id);
    json_write_text(out, "email", view->user->email);
    json_write_end(out);
    json_write_object(out, "plan");
    json_write_text(out, "name", view->user->plan_name);
    json_write_time_or_null(out, "endsAt",
                            view->user->plan_name ? view->user->plan_ends_at : INT64_MAX);
    json_write_bool(out, "isActive", is_active(view));
    json_write_end(out);
    json_write_object(out, "token");
    json_write_time_or_null(out, "createdAt", view->found.token_created_at);
    json_write_time_or_null(out, "lastUsedAt", view->token_used_at);
    json_write_text(out, "last4", view->found.token_last4);
    json_write_end(out);
}

static void write_traffic(struct json_writer *out, const struct view *view) {
    json_write_array(out, "lines");
    for (size_t i = 0; i < view->line_count; i++)
        line_view_write(out, NULL, &view->lines[i]);
    json_write_end(out);
    json_write_object(out, "lastHour");
    json_write_time(out, "since", view->usage_since);
    json_write_integer(out, "in", view->usage.counts[USAGE_IN]);
    json_write_integer(out, "out", view->usage.counts[USAGE_OUT]);
    json_write_integer(out, "failed", view->usage.counts[USAGE_FAILED]);
    json_write_end(out);
}

static void write_webhooks(struct json_writer *out, const struct store_user_state *found) {
    json_write_array(out, "webhooks");
    for (size_t i = 0; i < found->webhook_count; i++) {
        const struct store_webhook *webhook = &found->webhooks[i];
        json_write_object(out, NULL);
        json_write_text(out, "id", webhook->id);
        json_write_text(out, "name", webhook->name);
        json_write_text(out, "kind", webhook->kind);
        json_write_text(out, "state", store_webhook_state(webhook));
        json_write_time_or_null(out, "failingSince", webhook->failing_since);
        json_write_integer(out, "pending", webhook->pending);
        json_write_integer(out, "dead", webhook->dead);
        json_write_end(out);
    }
    json_write_end(out);
}

/* The first webhook, with the events of all, then a list. */
static void write_webhook(struct json_writer *out, const struct view *view) {
    const struct store_user_state *found = &view->found;
    const struct store_webhook *first = &found->first;
    json_write_object(out, "webhook");
    json_write_bool(out, "isConfigured", *first->url && first->sealed_code.n);
    json_write_text(out, "url", first->url);
    json_write_time_or_null(out, "failingSince", first->failing_since);
    json_write_time_or_null(out, "suspendedAt", first->suspended_at);
    json_write_time_or_null(out, "nextProbeAt", first->next_probe_at);
    json_write_integer(out, "pending", found->pending);
    json_write_time_or_null(out, "oldestPendingAt", found->oldest_pending_at);
    json_write_integer(out, "dead", found->dead);
    json_write_end(out);
    write_webhooks(out, found);
    json_write_object(out, "courier");
    json_write_time_or_null(out, "beatAt", view->courier.last);
    json_write_bool(out, "isRunning", is_courier_running(view));
    json_write_end(out);
}

static void warn(struct json_writer *out, bool applies, const char *code, const char *message) {
    if (!applies)
        return;
    json_write_object(out, NULL);
    json_write_text(out, "code", code);
    json_write_text(out, "message", message);
    json_write_end(out);
}

static bool has_account_without_token(const struct view *view) {
    for (size_t i = 0; i < view->account_count; i++)
        if (!view->accounts[i].sealed_token.n)
            return true;
    return false;
}

static bool has_unregistered_line(const struct view *view) {
    for (size_t i = 0; i < view->line_count; i++)
        if (!view->lines[i].is_registered)
            return true;
    return false;
}

/* Whether the platform takes what a line sends, and its webhooks do not arrive. A message of the
 * phone app is counted as sent too, so nothing is known of a coexisting line. */
static bool has_silent_line(const struct view *view) {
    const int64_t since = view->rq->now / USAGE_HOUR_MS - 1 - SENT_DAYS * 24;
    for (size_t i = 0; i < view->line_count; i++) {
        const struct usage_last *last = &view->last[i];
        if (!view->lines[i].is_coexisting && last->sent >= since &&
            (last->webhook == INT64_MIN || last->webhook < last->sent - SILENT_HOURS))
            return true;
    }
    return false;
}

static bool has_webhook_in(const struct view *view, const char *state) {
    for (size_t i = 0; i < view->found.webhook_count; i++)
        if (strcmp(store_webhook_state(&view->found.webhooks[i]), state) == 0)
            return true;
    return false;
}

static bool has_webhook(const struct view *view) {
    return has_webhook_in(view, "active") || has_webhook_in(view, "paused") ||
           has_webhook_in(view, "suspended");
}

static bool has_failing_webhook(const struct view *view) {
    for (size_t i = 0; i < view->found.webhook_count; i++)
        if (view->found.webhooks[i].failing_since != INT64_MAX)
            return true;
    return false;
}

static void write_warnings(struct json_writer *out, const struct view *view) {
    const struct store_user_state *found = &view->found;
    const int64_t soon = view->rq->now + (int64_t)PLAN_ENDS_SOON_DAYS * DAY_MS;
    const bool is_suspended = has_webhook_in(view, "suspended");
    json_write_array(out, "warnings");
    warn(out, !is_active(view), "PLAN_ENDED",
         "There is no plan, or it has ended: the API refuses every request until it is renewed.");
    warn(out, is_active(view) && view->user->plan_ends_at < soon, "PLAN_ENDS_SOON",
         "The plan ends within 7 days; renew it.");
    warn(out, !view->line_count, "NO_LINE", "There is no line to send from; add one.");
    warn(out, has_unregistered_line(view), "LINE_NOT_REGISTERED",
         "A line is not registered with the platform: it cannot send.");
    warn(out, has_account_without_token(view), "ACCOUNT_WITHOUT_TOKEN",
         "A business account has no platform access token: its lines cannot send.");
    warn(out, has_silent_line(view), "PLATFORM_SILENT",
         "A line sends, and no webhook of the platform has arrived for a day: neither messages nor "
         "statuses come in. GET /v2/setup shows what is missing.");
    warn(out, !has_webhook(view), "WEBHOOK_UNSET",
         "No webhook is set: no events are delivered. POST /v2/webhooks/config sets one.");
    warn(out, is_suspended, "WEBHOOK_SUSPENDED",
         "A webhook failed for five days or answered 410: deliveries are suspended, and one "
         "event is tried each hour. Correct the receiver, then set the webhook again.");
    warn(out, !is_suspended && has_failing_webhook(view), "WEBHOOK_FAILING",
         "A webhook has not accepted an event since its last failure; GET /v2/events?failed=true "
         "shows why.");
    warn(out, found->dead > 0, "EVENTS_DEAD",
         "Events were given up after all attempts; POST /v2/events/replay delivers them again.");
    warn(out, !is_courier_running(view), "COURIER_STOPPED",
         "The courier does not run: no events are delivered. The operator must start it.");
    json_write_end(out);
}

static int get_overview(struct request *rq) {
    struct view view = {.rq = rq, .user = &rq->caller->user};
    enum store_result result = read_view(&view);
    if (result != STORE_OK)
        return state_fail(rq, result);
    view.token_used_at = find_token_use(view.user->id);
    struct json_writer data;
    reply_start(rq, &data);
    write_user(&data, &view);
    account_view_write(&data, view.accounts, view.account_count);
    write_traffic(&data, &view);
    inbox_write_counts(&data, &view.inbox);
    write_webhook(&data, &view);
    write_warnings(&data, &view);
    return reply_object(rq, &data);
}

/* --- GET /v2/usage --- */

enum { USAGE_MOST_DAYS = 92, USAGE_PRESET_DAYS = 30, LEAST_OFFSET = -720, MOST_OFFSET = 840 };

static const struct field usage_query[] = {
    {.name = "from", .type = FIELD_STRING, .rule = &period_day_rule, .example = PERIOD_DAY_EXAMPLE},
    {.name = "to", .type = FIELD_STRING, .rule = &period_day_rule, .example = PERIOD_DAY_EXAMPLE},
    {.name = "offset", .type = FIELD_INTEGER, .min = LEAST_OFFSET, .max = MOST_OFFSET},
    {.name = "lineId", .type = FIELD_STRING},
    {0},
};

/* Days of a place whose clock is `offset` minutes ahead of UTC. */
struct days {
    int64_t first; /* midnight of the first day on that clock, ms */
    size_t count;
    int64_t offset;
};

/* Reads the query. Returns 0, or -1 after failing the request. */
static int read_days(struct request *rq, struct days *days) {
    struct issues issues;
    days->offset = query_integer(&rq->query, "offset", 0);
    const int64_t today = (rq->now + days->offset * 60 * 1000) / DAY_MS * DAY_MS;
    const int64_t last = period_time(query_get(&rq->query, "to"), today);
    days->first = period_time(query_get(&rq->query, "from"),
                              last - (int64_t)(USAGE_PRESET_DAYS - 1) * DAY_MS);
    days->count = (size_t)((last - days->first) / DAY_MS + 1);
    request_start_issues(rq, &issues);
    if (last < days->first)
        issues_add(&issues, "to", "out_of_range", "must not be before from");
    else if (days->count > USAGE_MOST_DAYS)
        issues_add(&issues, "from", "out_of_range", "must be at most %d days before to",
                   USAGE_MOST_DAYS - 1);
    return fail_on_issues(rq, &issues);
}

/* An hour belongs to the day in which it begins: on clocks that differ from UTC by half an hour it
 * overlaps with two days. */
static int64_t first_hour(const struct days *days) {
    return (days->first - days->offset * 60 * 1000 + USAGE_HOUR_MS - 1) / USAGE_HOUR_MS;
}

static const char *day_text(struct arena *arena, int64_t ms) {
    char time[CLOCK_ISO8601_SIZE];
    clock_format(ms, time);
    return arena_printf(arena, "%.10s", time);
}

static void write_counts(struct json_writer *out, const struct usage_period *period) {
    for (size_t i = 0; i < USAGE_MARKETING; i++)
        json_write_integer(out, usage_names[i], period->counts[i]);
    json_write_object(out, "templates");
    for (size_t i = USAGE_MARKETING; i < USAGE_MEASURES; i++)
        json_write_integer(out, usage_names[i], period->counts[i]);
    json_write_end(out);
}

static int reply_usage(struct request *rq, const struct days *days,
                       const struct usage_period *periods) {
    struct usage_period total = {0};
    struct json_writer data;
    reply_start(rq, &data);
    json_write_text(&data, "from", day_text(rq->arena, days->first));
    json_write_text(&data, "to",
                    day_text(rq->arena, days->first + (int64_t)(days->count - 1) * DAY_MS));
    json_write_integer(&data, "offset", days->offset);
    json_write_array(&data, "days");
    for (size_t i = 0; i < days->count; i++) {
        json_write_object(&data, NULL);
        json_write_text(&data, "day", day_text(rq->arena, days->first + (int64_t)i * DAY_MS));
        write_counts(&data, &periods[i]);
        json_write_end(&data);
        for (size_t j = 0; j < USAGE_MEASURES; j++)
            total.counts[j] += periods[i].counts[j];
    }
    json_write_end(&data);
    json_write_object(&data, "total");
    write_counts(&data, &total);
    json_write_end(&data);
    return reply_object(rq, &data);
}

static int get_usage(struct request *rq) {
    struct store *store = rq->caller->store;
    const char *user_id = rq->caller->user.id, *line_id = query_get(&rq->query, "lineId").p;
    struct days days;
    struct usage_period periods[USAGE_MOST_DAYS] = {0};
    if (read_days(rq, &days))
        return -1;
    struct line line;
    enum store_result result =
        line_id ? store_find_line_by_id(store, rq->arena, &rq->caller->view, line_id, &line)
                : STORE_OK;
    if (result == STORE_OK)
        result =
            store_sum_usage(store, user_id, line_id, first_hour(&days), 24, periods, days.count);
    if (result == STORE_OK)
        return reply_usage(rq, &days, periods);
    return state_fail_absent(rq, result,
                             "There is no such line; lineId is an `id` of phoneNumbers in "
                             "GET /v2/me.");
}

/* --- GET /v2/requests --- */

static const char *const callers[] = {"token", "session", NULL};
static const char *const booleans[] = {"true", "false", NULL};

static const struct field requests_query[] = {
    {.name = "requestId", .type = FIELD_STRING},
    {.name = "by", .type = FIELD_STRING, .values = callers},
    {.name = "failed", .type = FIELD_STRING, .values = booleans},
    PAGING_FIELDS,
    {0},
};

static void write_record(struct json_writer *out, const struct request_record *record) {
    json_write_object(out, NULL);
    json_write_time(out, "time", record->time);
    json_write_text(out, "method", record->method);
    json_write_text(out, "route", record->route);
    json_write_integer(out, "status", record->status);
    json_write_integer(out, "ms", record->ms);
    json_write_text(out, "requestId", record->id);
    json_write_text(out, "by", callers[record->is_session]);
    json_write_end(out);
}

/* Whether the query asks for the record. */
static bool is_wanted(const struct request *rq, const struct request_record *record) {
    const char *id = query_get(&rq->query, "requestId").p;
    const char *by = query_get(&rq->query, "by").p;
    const bool is_failed = slice_equal(query_get(&rq->query, "failed"), SLICE("true"));
    return (!id || strcmp(record->id, id) == 0) &&
           (!by || strcmp(callers[record->is_session], by) == 0) &&
           (!is_failed || record->status >= 400);
}

/* Writes the records of the page. Returns the cursor of the next one, NULL at the end. */
static const char *write_records(struct request *rq, struct json_writer *out, uint64_t before) {
    size_t left = paging_limit(rq);
    struct request_record record;
    uint64_t last = before;
    while (request_log_next(rq->user_id, &before, &record)) {
        if (!is_wanted(rq, &record))
            continue;
        if (!left--)
            return arena_printf(rq->arena, "n%llu", (unsigned long long)last);
        write_record(out, &record);
        last = record.number;
    }
    return NULL;
}

static int get_requests(struct request *rq) {
    const char *after, *next;
    if (paging_after(rq, "n", &after))
        return -1;
    if (after && after[1 + strspn(after + 1, "0123456789")])
        return paging_fail(rq);
    struct json_writer data;
    reply_start(rq, &data);
    json_write_bool(&data, "isRecorded", request_log_is_kept());
    json_write_array(&data, "items");
    next = write_records(rq, &data, after ? strtoull(after + 1, NULL, 10) : UINT64_MAX);
    return paging_reply(rq, &data, next);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/overview",
     .scope = SCOPE_BASIC, .guard = &overview_guard, .handle = get_overview},
    {.method = "GET", .path = "/v2/usage",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_usage, .query = usage_query},
    {.method = "GET", .path = "/v2/requests",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = get_requests,
     .query = requests_query},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "overview", .routes = routes, .needs = READS_DATABASE};
