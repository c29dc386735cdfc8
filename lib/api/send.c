#include "api/send.h"

#include "api/idempotency.h"
#include "api/keep.h"
#include "api/send_check.h"
#include "api/sent_record.h"
#include "api/thread_claim.h"
#include "api/upstream.h"
#include "base/clock.h"
#include "base/process/signals.h"
#include "payload/attachment.h"
#include "payload/outgoing_json.h"
#include "payload/send_answer.h"
#include "store/message.h"
#include "web/prefer.h"

/* A send in progress. */
struct sending {
    struct request *rq;
    const struct message_kind *kind;
    struct slice object; /* the platform's; p NULL: the kind writes it */
    const char *phone;   /* the recipient's digits; NULL: sent to the BSUID */
    const char *bsuid;
    struct idempotency once;     /* once.key.key NULL: the request has no key */
    const char *callback_data;   /* the platform echoes it in the statuses; NULL: none */
    int64_t send_at, expires_at; /* of a queued send */
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

/* The id of the message that this one quotes; absent when there is none, or when the kind
 * cannot quote one. */
static struct json quoted_message(const struct sending *sending) {
    static const char name[] = "contextMessageWamid";
    return field_is_declared(sending->kind->fields, SLICE(name)) ? json_get(sending->rq->json, name)
                                                                 : (struct json){0};
}

static void write_object(struct json_writer *out, const struct sending *sending) {
    const struct message_kind *kind = sending->kind;
    if (sending->object.p) {
        json_write_raw(out, kind->type, sending->object);
        return;
    }
    if (kind->is_array)
        json_write_array(out, kind->type);
    else
        json_write_object(out, kind->type);
    kind->write(out, sending->rq);
    json_write_end(out);
}

/* The body of the call to the platform. With a key it has the id of the first request, and a queued
 * send that of its row, which the platform copies into the message's statuses, so that a status
 * identifies a send whose answer from the platform was lost. */
static struct slice payload(const struct sending *sending) {
    struct request *rq = sending->rq;
    const struct message_kind *kind = sending->kind;
    struct json context = quoted_message(sending);
    struct json_writer out;
    json_write_start_object(&out, rq->arena);
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
    write_object(&out, sending);
    if (sending->callback_data)
        json_write_text(&out, "biz_opaque_callback_data", sending->callback_data);
    return json_written(&out);
}

/* A caller with a part of the lines or threads sends no file that only messages of others have: it
 * could read the file by the message that it sends. */
static int refuse_foreign_files(const struct sending *sending) {
    struct request *rq = sending->rq;
    const struct caller *caller = rq->caller;
    const char *const *ids;
    bool is_foreign = false;
    if (view_is_whole(&caller->view))
        return 0;
    const size_t count = attachment_ids(rq->arena, payload(sending), &ids);
    for (size_t i = 0; i < count && !is_foreign; i++) {
        enum store_result result =
            store_is_foreign_media(caller->store, &caller->view, ids[i], &is_foreign);
        if (result != STORE_OK)
            return state_fail(rq, result);
    }
    return is_foreign ? fail(rq, FORBIDDEN,
                             "The file is one of messages that the caller does not see: upload it, "
                             "and send the id of the upload.")
                      : 0;
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
    if (!send_answer_wamid(rq->arena, answer)) {
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
    if (strcmp(sending->kind->type, "reaction") == 0)
        return claim_check(sending->rq, sending->phone, sending->bsuid);
    return claim_take(sending->rq, sending->phone, sending->bsuid, claim);
}

/* Delivers the message unless its contact is blocked, its file is one that the caller does not see,
 * or another member answers. */
static int deliver_allowed(struct sending *sending) {
    struct store_claim claim;
    if (send_check_blocked(sending->rq, sending->phone, sending->bsuid) ||
        refuse_foreign_files(sending) || claim_thread(sending, &claim))
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
    idempotency_end(sending->rq, &sending->once, true);
    signals_restore(&before);
    return failed ? -1 : 0;
}

/* Handles a key whose first request had an unknown outcome until a status showed its message.
 * Replies and records as the first request would have done. */
static int resolve(struct sending *sending) {
    struct request *rq = sending->rq;
    const struct store_idempotency *stored = &sending->once.stored;
    const char *input = sending->phone ? sending->phone : sending->bsuid;
    struct json answer;
    if (idempotency_check_body(rq, &sending->once) ||
        sent_answer(rq, stored, input, sending->phone, &answer))
        return -1;
    reply_data(rq, json_raw(answer));
    record(sending, answer, payload(sending), stored->started_at);
    return idempotency_resolve(rq, &sending->once);
}

/* --- queued sends --- */

enum {
    SECOND = 1000,
    DAY_S = 24 * 60 * 60,
    LATE_MS = 60 * SECOND, /* a sendAt that is over for less is now: clocks differ */
};

static bool prefers_async(void) {
    return prefer_has(request_variable("HTTP_PREFER"), "respond-async", "");
}

static int fail_send_at(struct request *rq, const char *what) {
    struct issues issues;
    char now[CLOCK_ISO8601_SIZE];
    clock_format(rq->now, now);
    request_start_issues(rq, &issues);
    issues_add(&issues, "sendAt", "out_of_range", "%s; it is %s now", what, now);
    return fail_on_issues(rq, &issues);
}

/* Reads sendAt and validFor. A time that is over is refused, since a wrong offset would send at
 * once what was meant for later. */
static int read_times(struct sending *sending) {
    struct request *rq = sending->rq;
    int64_t seconds = DAY_S;
    const int64_t send_at =
        period_time(json_string(json_get(rq->json, "sendAt"), rq->arena), rq->now);
    if (send_at < rq->now - LATE_MS)
        return fail_send_at(rq, "must not be in the past");
    if (send_at > rq->now + SEND_DAYS_AHEAD * DAY_S * INT64_C(1000))
        return fail_send_at(rq, "must be at most 30 days ahead");
    json_integer(json_get(rq->json, "validFor"), &seconds);
    sending->send_at = send_at > rq->now ? send_at : rq->now;
    sending->expires_at = sending->send_at + seconds * SECOND;
    return 0;
}

static int reply_queued(struct request *rq, const struct store_outgoing *row) {
    struct json_writer data;
    json_write_start(&data, rq->arena);
    outgoing_json_write_queued(&data, NULL, row);
    reply_header(rq, "Location", arena_printf(rq->arena, "/v2/outgoing/%s", row->id));
    if (prefers_async())
        reply_header(rq, "Preference-Applied", "respond-async");
    return reply_accepted(rq, json_written(&data));
}

/* Inserts the row. That of a request that is continued is there already, perhaps sent. */
static int insert_row(const struct sending *sending) {
    struct request *rq = sending->rq;
    const struct caller *caller = rq->caller;
    struct store_outgoing row = {
        .id = sending->callback_data,
        .user_id = caller->user.id,
        .account_id = caller->line.account_id,
        .line_id = caller->line.id,
        .recipient = sending->phone ? sending->phone : sending->bsuid,
        .body = payload(sending),
        .send_at = sending->send_at,
        .expires_at = sending->expires_at,
        .created_at = rq->now,
        .by = caller->actor,
    };
    const struct store_addressee to = {&caller->view, row.account_id, row.line_id, sending->phone,
                                       sending->bsuid};
    enum store_result result = store_insert_outgoing(caller->store, &to, &row);
    if (result == STORE_CONFLICT)
        return claim_fail(rq);
    if (result == STORE_OK)
        result = store_find_outgoing(caller->store, rq->arena, &caller->view, row.id, &row);
    return result == STORE_OK ? reply_queued(rq, &row) : state_fail(rq, result);
}

/* Queues a message of the `kind`, a struct message_kind. */
static int queue(struct request *rq, const char *request_id, const void *kind) {
    struct sending sending = {.rq = rq, .kind = kind};
    struct store_claim claim;
    read_recipient(&sending);
    sending.callback_data = idempotency_id(rq, "out_", request_id);
    if (read_times(&sending) || send_check_queue(rq) ||
        send_check_blocked(rq, sending.phone, sending.bsuid) || refuse_foreign_files(&sending) ||
        claim_thread(&sending, &claim))
        return -1;
    if (insert_row(&sending) == 0)
        return 0;
    claim_release(rq, &claim);
    return -1;
}

int send_object(struct request *rq, const struct message_kind *kind, struct slice object) {
    struct sending sending = {.rq = rq, .kind = kind, .object = object};
    read_recipient(&sending);
    if (!idempotency_has_key())
        return deliver_allowed(&sending);
    idempotency_fingerprint(rq, sending.once.fingerprint);
    const enum idempotency_state state = idempotency_begin(rq, &sending.once);
    sending.callback_data = sending.once.stored.request_id;
    switch (state) {
    case IDEMPOTENCY_NEW: return deliver_once(&sending);
    case IDEMPOTENCY_REPLIED: return idempotency_replay(rq, &sending.once);
    case IDEMPOTENCY_ACCEPTED: return resolve(&sending);
    case IDEMPOTENCY_FAILED: break;
    }
    return -1;
}

int send_message(struct request *rq, const struct message_kind *kind) {
    return prefers_async() || json_is(json_get(rq->json, "sendAt"))
               ? idempotency_queue(rq, queue, kind)
               : send_object(rq, kind, (struct slice){NULL, 0});
}
