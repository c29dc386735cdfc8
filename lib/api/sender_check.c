#include "api/sender_check.h"

#include "base/clock.h"
#include "store/heartbeat.h"

int sender_check(struct request *rq) {
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
