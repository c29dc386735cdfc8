#include "api/thread_claim.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "payload/person_json.h"
#include "store/assignment.h"
#include "store/store.h"

enum { CLAIMED_MS = 45 * 1000 }; /* a call of the platform lasts 30 s at most */

/* Reads `THREAD CHANGE`; false when the header is something else. */
static bool read_seen(struct request *rq, struct slice text, struct store_claim *claim) {
    struct slice rest = slice_trim(text), id = slice_cut(&rest, ' ');
    char *end;
    if (!id.n || id.n >= ID_SIZE || !rest.n || rest.n > 18 || strspn(rest.p, "0123456789") < rest.n)
        return false;
    claim->thread_id = arena_copy(rq->arena, id);
    claim->seen = strtoll(arena_copy(rq->arena, rest), &end, 10);
    return !*end;
}

static int fail_claimed(struct request *rq, const struct store_claimant *other) {
    struct json_writer details;
    json_write_start_object(&details, rq->arena);
    json_write_text(&details, "reason", other->has_answered ? "answered" : "answering");
    actor_json_write(&details, "by", &other->by);
    return fail_with_details(rq, CONFLICT, json_written(&details), "%s %s; nothing was sent.",
                             other->by.name,
                             other->has_answered ? "has answered this thread since you have read it"
                                                 : "is answering this thread");
}

int claim_fail(struct request *rq) {
    return fail(rq, FORBIDDEN, "The thread with this person is assigned to a colleague.");
}

int claim_check(struct request *rq, const char *phone, const char *bsuid) {
    const struct caller *caller = rq->caller;
    const struct store_addressee to = {&caller->view, caller->line.account_id, caller->line.id,
                                       phone, bsuid};
    bool is_so = false;
    if (!caller->view.own_id)
        return 0;
    request_release(rq); /* a view would hold an older state */
    const enum store_result result = store_is_of_colleague(caller->store, &to, &is_so);
    if (result != STORE_OK)
        return state_fail(rq, result);
    return is_so ? claim_fail(rq) : 0;
}

int claim_check_message(struct request *rq, const char *wamid) {
    const struct caller *caller = rq->caller;
    bool is_so = false;
    if (!caller->view.own_id)
        return 0;
    request_release(rq); /* as above */
    const enum store_result result =
        store_is_message_of_colleague(caller->store, &caller->view, caller->line.id, wamid, &is_so);
    if (result != STORE_OK)
        return state_fail(rq, result);
    return is_so ? claim_fail(rq) : 0;
}

int claim_take(struct request *rq, const char *phone, const char *bsuid,
               struct store_claim *claim) {
    const struct caller *caller = rq->caller;
    const struct slice seen = slice_of(request_variable("HTTP_X_SWITCHBOARD_SEEN"));
    struct store_claimant other;
    *claim = (struct store_claim){.to = {.view = &caller->view,
                                         .account_id = caller->line.account_id,
                                         .line_id = caller->line.id,
                                         .phone = phone,
                                         .bsuid = bsuid},
                                  .by = caller->actor,
                                  .request_id = rq->id,
                                  .now = clock_now()};
    claim->until = claim->now + CLAIMED_MS;
    if (!seen.p || !caller->session.id)
        return claim_check(rq, phone, bsuid);
    if (!read_seen(rq, seen, claim))
        return fail(rq, INVALID,
                    "X-Switchboard-Seen must be the id of a thread, a space and the number of a "
                    "change.");
    request_release(rq); /* a view would hold an older state */
    enum store_result result = store_claim_thread(caller->store, rq->arena, claim, &other);
    if (result != STORE_OK)
        return state_fail(rq, result);
    return other.is_of_colleague ? claim_fail(rq) : other.by.id ? fail_claimed(rq, &other) : 0;
}

void claim_release(struct request *rq, const struct store_claim *claim) {
    const bool is_refused = rq->upstream_status >= 400 && rq->upstream_status < 500;
    if (!claim->thread_id || (rq->upstream_was_sent && !is_refused))
        return;
    if (store_release_claim(rq->caller->store, claim) != STORE_OK)
        log_message(LOG_WARN, "request %s: the claim of its thread lasts until its end: %s", rq->id,
                    store_reason(rq->caller->store));
}
