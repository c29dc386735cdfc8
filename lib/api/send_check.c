#include "api/send_check.h"

#include "base/clock.h"
#include "store/heartbeat.h"

static int check_blocked(struct request *rq, enum store_result result, bool blocked) {
    if (result != STORE_OK)
        return state_fail(rq, result);
    return blocked ? fail(rq, FORBIDDEN, "The contact is blocked on this line.") : 0;
}

int send_check_blocked(struct request *rq, const char *phone, const char *bsuid) {
    const struct line *line = &rq->caller->line;
    bool blocked = false;
    enum store_result result =
        store_is_blocked(rq->caller->store, line->id, line->account_id, phone, bsuid, &blocked);
    return check_blocked(rq, result, blocked);
}

int send_check_sender(struct request *rq, const char *wamid) {
    bool blocked = false;
    enum store_result result =
        store_is_sender_blocked(rq->caller->store, rq->caller->line.id, wamid, &blocked);
    return check_blocked(rq, result, blocked);
}

int send_check_queue(struct request *rq) {
    struct store_pulse pulse;
    enum store_result result = store_find_pulse(rq->caller->store, "sender", &pulse);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (pulse.last != INT64_MIN && (clock_now() - pulse.last) / 1000 <= HEARTBEAT_SILENT_S)
        return 0;
    reply_header(rq, "Retry-After", "60");
    return fail(
        rq, UNAVAILABLE,
        "No sender runs, so nothing was queued. Have the operator start the program sender; "
        "a message without respond-async and sendAt is sent without it.");
}
