#include "payload/campaign_json.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000 };

/* A campaign whose time has not come is `scheduled`. */
static const char *state_of(const struct store_campaign *campaign, int64_t now) {
    return strcmp(campaign->state, "running") == 0 && campaign->start_at > now ? "scheduled"
                                                                               : campaign->state;
}

void campaign_json_write(struct json_writer *out, const struct store_campaign *campaign,
                         int64_t now) {
    json_write_text(out, "id", campaign->id);
    json_write_text(out, "name", campaign->name);
    json_write_text(out, "state", state_of(campaign, now));
    json_write_text(out, "reason", campaign->reason);
    json_write_text(out, "phoneNumberId", campaign->phone_number_id);
    json_write_text(out, "templateName", campaign->template_name);
    json_write_text(out, "language", campaign->language);
    json_write_text(out, "category", campaign->category);
    json_write_raw(out, "components", campaign->components);
    json_write_integer_or_null(out, "rate", campaign->rate);
    json_write_raw(out, "window", campaign->window);
    json_write_integer(out, "validFor", campaign->valid_ms / SECOND);
    json_write_time(out, "createdAt", campaign->created_at);
    json_write_time_or_null(out, "sendAt", campaign->start_at);
    json_write_time_or_null(out, "finishedAt", campaign->finished_at);
}

/* The counts of the answer. */
static const char *const states[] = {"waiting", "queued",  "sending",   "accepted",   "failed",
                                     "unknown", "expired", "cancelled", "suppressed", NULL};
static const char *const deliveries[] = {"held", "sent", "delivered", "read", "failed", NULL};

static int64_t count_of(const struct store_campaign_count *list, size_t n,
                        enum campaign_measure measure, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (list[i].measure == measure && strcmp(list[i].name, name) == 0)
            return list[i].count;
    return 0;
}

/* What has not been moved to outgoing when a campaign was cancelled was cancelled with it. */
static int64_t count_state(const struct store_campaign *campaign,
                           const struct store_campaign_count *list, size_t n, const char *state) {
    const bool is_cancelled = strcmp(campaign->state, "cancelled") == 0;
    if (is_cancelled && strcmp(state, "waiting") == 0)
        return 0;
    const bool is_sum = is_cancelled && strcmp(state, "cancelled") == 0;
    return count_of(list, n, CAMPAIGN_STATE, state) +
           (is_sum ? count_of(list, n, CAMPAIGN_STATE, "waiting") : 0);
}

/* The codes, the most frequent one first. */
static int compare_counts(const void *a, const void *b) {
    const struct store_campaign_count *first = a, *second = b;
    return first->count != second->count ? (first->count < second->count ? 1 : -1)
                                         : strcmp(first->name, second->name);
}

static void write_errors(struct json_writer *out, struct store_campaign_count *list, size_t n) {
    if (n)
        qsort(list, n, sizeof *list, compare_counts);
    json_write_array(out, "errors");
    for (size_t i = 0; i < n && list[i].count > 0; i++) {
        if (list[i].measure != CAMPAIGN_CODE)
            continue;
        json_write_object(out, NULL);
        json_write_raw(out, "code", slice_of(list[i].name));
        json_write_integer(out, "count", list[i].count);
        json_write_end(out);
    }
    json_write_end(out);
}

void campaign_json_write_counts(struct json_writer *out, const struct store_campaign *campaign,
                                struct store_campaign_count *list, size_t n) {
    json_write_object(out, "counts");
    for (size_t i = 0; states[i]; i++)
        json_write_integer(out, states[i], count_state(campaign, list, n, states[i]));
    json_write_end(out);
    json_write_object(out, "delivery");
    for (size_t i = 0; deliveries[i]; i++)
        json_write_integer(out, deliveries[i], count_of(list, n, CAMPAIGN_STATUS, deliveries[i]));
    json_write_end(out);
    write_errors(out, list, n);
}

void campaign_json_write_template(struct json_writer *out, const struct store_campaign *campaign,
                                  struct slice components) {
    json_write_text(out, "name", campaign->template_name);
    json_write_object(out, "language");
    json_write_text(out, "code", campaign->language);
    json_write_end(out);
    json_write_raw(out, "components", components);
}
