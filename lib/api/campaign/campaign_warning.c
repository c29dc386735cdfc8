#include "api/campaign/campaign_warning.h"

#include <stdlib.h>

#include "api/state.h"
#include "api/upstream.h"

enum { ASKED_MS = 10 * 1000, THOUSAND = 1000 };

#define LIMIT "whatsapp_business_manager_messaging_limit"

static void warn(struct json_writer *out, const char *code, int64_t limit, const char *message) {
    json_write_object(out, NULL);
    json_write_text(out, "code", code);
    if (limit)
        json_write_integer(out, "limit", limit);
    else
        json_write_null(out, "limit");
    json_write_text(out, "message", message);
    json_write_end(out);
}

/* The number of a limit such as TIER_250 or TIER_10K; 0: there is none, or it is not known. */
static int64_t number_of(const char *limit) {
    static const char beginning[] = "TIER_";
    char *end;
    if (!limit || strncmp(limit, beginning, sizeof beginning - 1) != 0)
        return 0;
    const long number = strtol(limit + sizeof beginning - 1, &end, 10);
    if (number <= 0)
        return 0;
    return strcmp(end, "K") == 0 ? (int64_t)number * THOUSAND : *end ? 0 : number;
}

static void judge(struct request *rq, struct json number, int64_t recipients,
                  struct json_writer *out) {
    const int64_t limit = number_of(json_text(json_get(number, LIMIT), rq->arena));
    if (limit && recipients > limit)
        warn(out, "RECIPIENT_LIMIT", limit,
             arena_printf(rq->arena,
                          "WhatsApp lets this business write first to %lld different people in 24 "
                          "hours, and %lld recipients of the campaign wait for their message: "
                          "those beyond the limit fail. Divide the campaign over several days, or "
                          "ask in the WhatsApp Manager for a higher limit.",
                          (long long)limit, (long long)recipients));
    if (json_equals(json_get(number, "quality_rating"), "RED"))
        warn(out, "QUALITY_RED", 0,
             "The quality of the line is RED: many people have blocked or reported its messages, "
             "and WhatsApp may lower its limit or pause the template. Send only to people who "
             "expect the message, or wait until the WhatsApp Manager shows a better quality.");
}

int campaign_warnings(struct request *rq, const struct store_campaign *campaign, int64_t recipients,
                      struct slice *warnings) {
    struct graph_answer answer;
    struct json_writer out;
    struct json number;
    struct json_error problem;
    if (auth_choose_line(rq, campaign->phone_number_id))
        return -1;
    const char *token = state_account_token(rq, &rq->caller->line.account);
    if (!token)
        return -1;
    upstream_ask(
        rq,
        &(struct graph_call){
            .method = "GET",
            .path = arena_printf(rq->arena, "%s?fields=id,quality_rating," LIMIT,
                                 graph_escape(rq->arena, slice_of(campaign->phone_number_id))),
            .token = token,
            .limit_ms = ASKED_MS},
        &answer);
    json_write_start(&out, rq->arena);
    json_write_array(&out, NULL);
    if (answer.status == 200 && json_read(rq->arena, answer.body, &number, &problem) == 0 &&
        json_type(number) == JSON_OBJECT)
        judge(rq, number, recipients, &out);
    else
        warn(&out, "UNKNOWN", 0,
             "The platform did not say how many people may be written to in 24 hours, nor the "
             "quality of the line. Compare both in the WhatsApp Manager with the number of "
             "recipients.");
    *warnings = json_written(&out);
    return 0;
}
