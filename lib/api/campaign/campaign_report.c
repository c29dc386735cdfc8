#include "api/campaign/campaign_report.h"

#include <string.h>

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

/* Writes the lines of the next recipients. `*more`: others may follow. */
static enum store_result write_page(struct request *rq, struct arena *arena,
                                    struct store_campaign_walk *walk, bool *more) {
    struct buffer lines = buffer_in(arena);
    struct store_campaign_outcome *rows;
    size_t count;
    enum store_result result =
        store_list_campaign_outcomes(rq->caller->store, arena, walk, ROWS_AT_ONCE, &rows, &count);
    *more = result == STORE_OK && !walk->is_over;
    for (size_t i = 0; result == STORE_OK && i < count; i++)
        add_outcome(&lines, &rows[i]);
    if (lines.n && reply_more(rq, buffer_slice(&lines)))
        *more = false;
    return result;
}

/* The status is sent already, so a failure becomes the last line. */
int campaign_report(struct request *rq, const struct store_campaign *campaign) {
    struct store_campaign_walk walk = {.campaign_id = campaign->id};
    struct buffer head = buffer_in(rq->arena);
    struct arena arena;
    enum store_result result = STORE_OK;
    bool more = true;
    add_head(&head);
    reply_header(rq, "Content-Disposition", "attachment; filename=\"recipients.csv\"");
    if (reply_stream(rq, 200, "text/csv; charset=utf-8; header=present", -1) || rq->head ||
        reply_more(rq, buffer_slice(&head)))
        return 0;
    arena_init(&arena, rq->arena->cap, rq->arena->exhausted);
    for (; more && result == STORE_OK; arena_reset(&arena))
        result = write_page(rq, &arena, &walk, &more);
    arena_free(&arena);
    if (result == STORE_OK)
        return 0;
    reply_more(rq, SLICE("#ERROR: the list is incomplete; request it again\r\n"));
    return state_fail(rq, result);
}
