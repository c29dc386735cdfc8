#include "api/send.h"

#include "api/idempotency.h"
#include "api/keep.h"
#include "api/sent_record.h"
#include "api/thread_claim.h"
#include "api/upstream.h"
#include "base/crypto.h"
#include "base/process/signals.h"

/* A send in progress. */
struct sending {
    struct request *rq;
    const struct message_kind *kind;
    const char *phone; /* the recipient's digits; NULL: sent to the BSUID */
    const char *bsuid;
    struct idempotency once;                     /* once.key.key NULL: the request has no key */
    unsigned char fingerprint[CRYPTO_HASH_SIZE]; /* of the body, if the request has a key */
};

void send_copy(struct json_writer *out, const char *name, struct json object, const char *member) {
    struct json value = json_get(object, member);
    if (json_is(value))
        json_write_raw(out, name, json_raw(value));
}

static void read_recipient(struct sending *sending) {
    struct request *rq = sending->rq;
    struct slice to = json_string(json_get(rq->json, "to"), rq->arena);
    sending->phone = to.p ? recipient_digits(rq->arena, to) : NULL;
    sending->bsuid = json_text(json_get(rq->json, "recipient"), rq->arena);
}

int send_check_blocked(struct request *rq, enum store_result result, bool blocked) {
    if (result != STORE_OK)
        return state_fail(rq, result);
    return blocked ? fail(rq, FORBIDDEN, "The contact is blocked on this line.") : 0;
}

static int refuse_blocked(const struct sending *sending) {
    struct request *rq = sending->rq;
    const struct line *line = &rq->caller->line;
    bool blocked = false;
    enum store_result result = store_is_blocked(rq->caller->store, line->id, line->account_id,
                                                sending->phone, sending->bsuid, &blocked);
    return send_check_blocked(rq, result, blocked);
}

/* The id of the message that this one quotes; absent when there is none, or when the kind
 * cannot quote one. */
static struct json quoted_message(const struct sending *sending) {
    static const char name[] = "contextMessageWamid";
    return field_is_declared(sending->kind->fields, SLICE(name)) ? json_get(sending->rq->json, name)
                                                                 : (struct json){0};
}

/* The body of the call to the platform. With a key it has the id of the first request, which the
 * platform copies into the message's statuses, so that a status identifies a send whose answer from
 * the platform was lost. */
static struct slice payload(const struct sending *sending) {
    struct request *rq = sending->rq;
    const struct message_kind *kind = sending->kind;
    struct json context = quoted_message(sending);
    struct json_writer out;
    json_write_start(&out, rq->arena);
    json_write_object(&out, NULL);
    json_write_text(&out, "messaging_product", "whatsapp");
    json_write_text(&out, "recipient_type", "individual");
    if (sending->phone)
        json_write_text(&out, "to", sending->phone);
    if (sending->bsuid)
        json_write_text(&out, "recipient", sending->bsuid);
    if (json_is(context)) {
        json_write_object(&out, "context");
        json_write_raw(&out, "message_id", json_raw(context));
        json_write_end(&out);
    }
    json_write_text(&out, "type", kind->type);
    if (kind->is_array)
        json_write_array(&out, kind->type);
    else
        json_write_object(&out, kind->type);
    kind->write(&out, rq);
    json_write_end(&out);
    if (sending->once.key.key)
        json_write_text(&out, "biz_opaque_callback_data", sending->once.stored.request_id);
    json_write_end(&out);
    return json_written(&out);
}

/* Records the message, whose call had the body `sent`, at the time `at`. */
static void record(struct sending *sending, struct json answer, struct slice sent, int64_t at) {
    struct request *rq = sending->rq;
    const struct message_kind *kind = sending->kind;
    struct store_send send = {
        .phone = sending->phone,
        .bsuid = sending->bsuid,
        .type = kind->type,
        .context_wamid = json_text(quoted_message(sending), rq->arena),
        .body = sent,
        .now = at,
    };
    if (kind->complete_record)
        kind->complete_record(rq, &send);
    sent_record(rq, answer, &send, &sending->once);
}

static int deliver(struct sending *sending) {
    struct request *rq = sending->rq;
    const struct caller *caller = rq->caller;
    const char *token = state_account_token(rq, &caller->line.account);
    if (!token)
        return -1;
    struct graph_call call = {
        .method = "POST",
        .path = arena_printf(rq->arena, "%s/messages",
                             graph_escape(rq->arena, slice_of(caller->line.phone_number_id))),
        .token = token,
        .body = payload(sending),
    };
    struct json answer;
    if (keep_prepare(rq, call.body.n) || upstream_call(rq, UPSTREAM_SEND, &call, &answer))
        return -1;
    if (!sent_wamid(rq, answer)) {
        return fail_with_details(
            rq, BAD_GATEWAY, json_raw(answer),
            "The platform's answer names no message; whether it was sent is not known.");
    }
    sigset_t before;
    signals_block(&before);
    reply_data(rq, json_raw(answer));
    record(sending, answer, call.body, rq->now);
    signals_restore(&before);
    return 0;
}

/* A reaction is no answer. */
static int claim_thread(const struct sending *sending, struct store_claim *claim) {
    *claim = (struct store_claim){.thread_id = NULL};
    return strcmp(sending->kind->type, "reaction") == 0 ? 0 : claim_take(sending->rq, claim);
}

/* Delivers the message unless its contact is blocked, or another member answers. */
static int deliver_allowed(struct sending *sending) {
    struct store_claim claim;
    if (refuse_blocked(sending) || claim_thread(sending, &claim))
        return -1;
    if (deliver(sending) == 0)
        return 0;
    claim_release(sending->rq, &claim);
    return -1;
}

/* Delivers under an idempotency key. Signals are blocked, so that the process does not end between
 * the call of the platform and storing the reply. */
static int deliver_once(struct sending *sending) {
    sigset_t before;
    signals_block(&before);
    int failed = deliver_allowed(sending);
    idempotency_end(sending->rq, &sending->once, sending->fingerprint);
    signals_restore(&before);
    return failed ? -1 : 0;
}

/* Handles a key whose first request had an unknown outcome until a status showed its message.
 * Replies and records as the first request would have done. */
static int resolve(struct sending *sending) {
    struct request *rq = sending->rq;
    const struct store_idempotency *stored = &sending->once.stored;
    const char *input = sending->phone ? sending->phone : sending->bsuid;
    struct slice data = sent_answer(rq, stored, input, sending->phone);
    struct json answer;
    struct json_error error;
    if (idempotency_check_body(rq, &sending->once, sending->fingerprint))
        return -1;
    if (json_read(rq->arena, data, &answer, &error))
        return fail(rq, INTERNAL, "The gateway made an answer that is no JSON.");
    reply_data(rq, data);
    record(sending, answer, payload(sending), stored->started_at);
    return idempotency_resolve(rq, &sending->once);
}

int send_message(struct request *rq, const struct message_kind *kind) {
    struct sending sending = {.rq = rq, .kind = kind};
    read_recipient(&sending);
    if (!idempotency_has_key())
        return deliver_allowed(&sending);
    idempotency_fingerprint(rq, sending.fingerprint);
    switch (idempotency_begin(rq, sending.fingerprint, &sending.once)) {
    case IDEMPOTENCY_NEW: return deliver_once(&sending);
    case IDEMPOTENCY_REPLIED: return idempotency_replay(rq, &sending.once, sending.fingerprint);
    case IDEMPOTENCY_ACCEPTED: return resolve(&sending);
    case IDEMPOTENCY_FAILED: break;
    }
    return -1;
}
