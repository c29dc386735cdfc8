#include "api/campaign/campaign_report.h"

#include "payload/campaign_csv.h"

enum { ROWS_AT_ONCE = 500 };

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
        campaign_csv_add(&lines, &rows[i]);
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
    campaign_csv_head(&head);
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
