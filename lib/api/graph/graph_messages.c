#include "api/graph/graph_messages.h"

#include "api/graph/graph_failure.h"
#include "api/graph/graph_forward.h"
#include "api/idempotency.h"
#include "api/keep.h"
#include "api/send_check.h"
#include "api/sent_record.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "payload/graph_send.h"
#include "payload/send_answer.h"
#include "web/multipart.h"
#include "web/plain_name.h"

#define FORM_TYPE "application/x-www-form-urlencoded"

/* A message in progress. */
struct graph_sending {
    struct request *rq;
    const struct graph_node *node;
    struct graph_send send;
    struct idempotency once; /* once.key.key NULL: the request has no key */
};

/* --- the request --- */

/* Fails when members of the message stand in the query although there is a body: the platform reads
 * both, and the gateway only one. */
static int check_query(struct request *rq) {
    static const char *const names[] = {"to",   "recipient", "recipient_type",
                                        "type", "status",    "message_id"};
    const struct query *query = &rq->graph->parameters;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < query->count; k++)
            if (plain_name_is(query->values[k].name, names[i]))
                return fail(rq, INVALID, "%s must stand in the body, not in the query.", names[i]);
    return 0;
}

/* Reads the body; without one the query, which the platform reads as a form. */
static int read_send(struct request *rq, struct graph_send *send) {
    const struct graph_request *graph = rq->graph;
    bool has_body = graph->body.n > 0;
    const char *error;
    if (has_body && check_query(rq))
        return -1;
    if (graph_send_read(rq->arena, has_body ? graph->content_type : FORM_TYPE,
                        has_body ? graph->body : graph->query, send, &error))
        return fail(rq, INVALID, "%s", error);
    return 0;
}

static int refuse_blocked(struct request *rq, const struct graph_send *send) {
    if ((send->is_message || send->phone || send->bsuid) &&
        send_check_blocked(rq, send->phone, send->bsuid))
        return -1;
    return send->is_message ? 0 : send_check_sender(rq, send->read_wamid);
}

/* The request to pass on: with a key it has the id of the first request as callback data, unless it
 * has some already, or is of a form that cannot be extended. */
static struct graph_relay outgoing(const struct graph_sending *sending) {
    struct request *rq = sending->rq;
    struct graph_relay relay = graph_outgoing(rq, sending->node);
    if (!sending->once.key.key || sending->send.has_callback_data || !relay.body.n)
        return relay;
    struct slice extended = graph_send_add_callback(rq->arena, relay.content_type, &sending->send,
                                                    relay.body, sending->once.stored.request_id);
    if (extended.p)
        relay.body = extended;
    return relay;
}

/* --- the answer --- */

static void record(struct graph_sending *sending, struct json answer, int64_t at) {
    struct request *rq = sending->rq;
    const struct graph_send *send = &sending->send;
    struct store_send row = {
        .phone = send->phone,
        .bsuid = send->bsuid,
        .type = send->type,
        .context_wamid = send->context_wamid,
        .body = graph_send_record(rq->arena, send),
        .template_name = send->template_name,
        .template_language = send->template_language,
        .flow_id = send->flow_id,
        .flow_token = send->flow_token,
        .now = at,
    };
    if (row.phone || row.bsuid)
        sent_record(rq, answer, &row, &sending->once);
    else if (send->is_to_person)
        log_message(LOG_ERROR, "request %s: %s was accepted but not recorded: it names no contact",
                    rq->id, send_answer_wamid(rq->arena, answer));
}

/* Reads the answer. Returns whether the platform accepted a message. */
static bool is_accepted(struct request *rq, const struct graph_answer *answer, struct json *json) {
    struct json_error error;
    return answer->status >= 200 && answer->status <= 299 &&
           json_read(rq->arena, answer->body, json, &error) == 0 &&
           send_answer_wamid(rq->arena, *json);
}

static int deliver(struct graph_sending *sending) {
    struct request *rq = sending->rq;
    struct graph_relay relay = outgoing(sending);
    struct graph_outcome outcome;
    struct json answer;
    sigset_t before;
    if ((sending->send.is_message && keep_prepare(rq, relay.body.n + rq->graph->query.n)) ||
        graph_ask(rq, sending->node, &relay, &outcome))
        return -1;
    const struct slice body = outcome.relayed.answer.body;
    if (!is_accepted(rq, &outcome.relayed.answer, &answer))
        return graph_reply(rq, &outcome, body);
    signals_block(&before);
    int failed = graph_reply(rq, &outcome, body);
    record(sending, answer, rq->now);
    signals_restore(&before);
    return failed;
}

/* --- the idempotency key --- */

/* A multipart form counts as what was read of it: its boundary differs in each request. */
static void make_fingerprint(struct graph_sending *sending) {
    const struct graph_request *graph = sending->rq->graph;
    bool is_rewritten = multipart_is(graph->content_type);
    struct crypto_sha256 *hash = crypto_sha256_start(sending->rq->arena);
    crypto_sha256_add(hash, graph->query);
    crypto_sha256_add(hash, SLICE("\0"));
    crypto_sha256_add(hash, is_rewritten ? json_raw(sending->send.body) : graph->body);
    crypto_sha256_end(hash, sending->once.fingerprint);
}

/* Delivers under a key. Signals are blocked, so that the process does not end between the call of
 * the platform and storing the reply. */
static int deliver_once(struct graph_sending *sending) {
    sigset_t before;
    signals_block(&before);
    int failed = refuse_blocked(sending->rq, &sending->send) || deliver(sending);
    idempotency_end(sending->rq, &sending->once, true);
    signals_restore(&before);
    return failed ? -1 : 0;
}

static int replay(const struct graph_sending *sending) {
    struct request *rq = sending->rq;
    if (idempotency_replay(rq, &sending->once))
        return -1;
    rq->reply.content_type = GRAPH_JSON;
    return 0;
}

/* Handles a key whose first request had an unknown outcome until a status showed its message.
 * Replies and records as the first request would have done. */
static int resolve(struct graph_sending *sending) {
    struct request *rq = sending->rq;
    const struct graph_send *send = &sending->send;
    struct json answer;
    if (idempotency_check_body(rq, &sending->once) ||
        sent_answer(rq, &sending->once.stored, send->phone ? send->to : send->bsuid, send->phone,
                    &answer))
        return -1;
    reply_body(rq, 200, GRAPH_JSON, json_raw(answer));
    record(sending, answer, sending->once.stored.started_at);
    return idempotency_resolve(rq, &sending->once);
}

static int send_once(struct graph_sending *sending) {
    make_fingerprint(sending);
    switch (idempotency_begin(sending->rq, &sending->once)) {
    case IDEMPOTENCY_NEW: return deliver_once(sending);
    case IDEMPOTENCY_REPLIED: return replay(sending);
    case IDEMPOTENCY_ACCEPTED: return resolve(sending);
    case IDEMPOTENCY_FAILED: break;
    }
    return -1;
}

int graph_post_message(struct request *rq, const struct graph_node *node) {
    struct graph_sending sending = {.rq = rq, .node = node};
    if (read_send(rq, &sending.send))
        return -1;
    if (sending.send.is_message && idempotency_has_key())
        return send_once(&sending);
    if (refuse_blocked(rq, &sending.send))
        return -1;
    return deliver(&sending); /* a read receipt that the platform took for a message is recorded */
}
