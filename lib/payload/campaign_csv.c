#include "payload/campaign_csv.h"

#include <string.h>

#include "base/clock.h"
#include "store/outgoing.h"

static void add_line(struct buffer *lines, const char *const *cells, size_t count) {
    for (size_t i = 0; i < count; i++)
        csv_add(lines, slice_of(cells[i]));
    csv_end(lines);
}

void campaign_csv_head(struct buffer *lines) {
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

void campaign_csv_add(struct buffer *lines, const struct store_campaign_outcome *outcome) {
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
