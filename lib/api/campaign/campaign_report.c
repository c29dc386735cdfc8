#include "api/campaign/campaign_report.h"

#include <string.h>

#include "api/paging.h"
#include "base/clock.h"
#include "payload/csv.h"
#include "store/outgoing.h"

enum { ROWS_AT_ONCE = 500 };

/* --- the lines --- */

static void add_line(struct buffer *lines, const char *const *cells, size_t count) {
    for (size_t i = 0; i < count; i++)
        csv_add(lines, slice_of(cells[i]));
    csv_end(lines);
}

static void add_head(struct buffer *lines) {
    static const char *const names[] = {"to",        "state",    "reason",     "errorCode",
                                        "messageId", "delivery", "finishedAt", "deliveryAt"};
    add_line(lines, names, sizeof names / sizeof *names);
}

/* `accepted` is no status that was reported, and `played` is more than read. */
static const char *delivery_of(const char *status) {
    if (!status || strcmp(status, "accepted") == 0)
        return NULL;
    return strcmp(status, "played") == 0 ? "read" : status;
}

static const char *time_of(int64_t at, char text[CLOCK_ISO8601_SIZE]) {
    if (at == INT64_MAX)
        return NULL;
    clock_format(at, text);
    return text;
}

static void add_outcome(struct buffer *lines, const struct store_campaign_outcome *outcome) {
    char finished[CLOCK_ISO8601_SIZE], delivered[CLOCK_ISO8601_SIZE], code[OUTGOING_CODE_SIZE];
    const bool has_code = outgoing_read_code(outcome->error, code);
    const char *const delivery = delivery_of(outcome->status);
    const char *const cells[] = {outcome->recipient,
                                 outcome->state,
                                 outcome->reason,
                                 has_code ? code : NULL,
                                 outcome->wamid,
                                 delivery,
                                 time_of(outcome->finished_at, finished),
                                 delivery ? time_of(outcome->status_at, delivered) : NULL};
    add_line(lines, cells, sizeof cells / sizeof *cells);
}

/* --- the answer --- */

static enum store_result add_page(struct request *rq, void *list, struct buffer *lines,
                                  bool *more) {
    struct store_campaign_walk *walk = list;
    struct store_campaign_outcome *rows;
    size_t count;
    enum store_result result = store_list_campaign_outcomes(rq->caller->store, lines->arena, walk,
                                                            ROWS_AT_ONCE, &rows, &count);
    *more = !walk->is_over;
    for (size_t i = 0; result == STORE_OK && i < count; i++)
        add_outcome(lines, &rows[i]);
    return result;
}

int campaign_report(struct request *rq, const struct store_campaign *campaign) {
    struct store_campaign_walk walk = {.campaign_id = campaign->id};
    struct buffer head = buffer_in(rq->arena);
    add_head(&head);
    return paging_reply_csv(rq, "recipients", buffer_slice(&head), add_page, &walk);
}
