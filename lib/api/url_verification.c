#include "api/url_verification.h"

#include "api/auth.h"
#include "base/clock.h"
#include "base/log.h"
#include "delivery/handshake.h"
#include "store/user_webhook.h"

#define AGAIN_SECONDS "10"

static int begin(struct request *rq) {
    struct caller *caller = rq->caller;
    enum store_result result =
        store_begin_verification(caller->store, caller->user.id, clock_now());
    if (result == STORE_OK)
        return 0;
    if (result != STORE_CONFLICT)
        return state_fail(rq, result);
    reply_header(rq, "Retry-After", AGAIN_SECONDS);
    return fail(
        rq, CONFLICT,
        "Another URL of a webhook of this user is being verified; try again in " AGAIN_SECONDS
        " s.");
}

int verify_url(struct request *rq, const char *url, struct slice verify_token,
               const char **reason) {
    struct caller *caller = rq->caller;
    request_release(rq);
    if (begin(rq))
        return -1;
    *reason = handshake_verify(rq->arena, rq->config, url, verify_token);
    if (store_end_verification(caller->store, caller->user.id) != STORE_OK)
        log_message(LOG_ERROR, "request %s: the end of a verification was not stored: %s", rq->id,
                    store_reason(caller->store));
    return 0;
}
