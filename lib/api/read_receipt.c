#include "api/read_receipt.h"

#include "api/send_check.h"
#include "api/thread_claim.h"
#include "api/upstream.h"

const struct field read_receipt_fields[] = {
    LINE_FIELD,
    {.name = "messageId", .type = FIELD_STRING, .required = true, .example = "wamid.x="},
    {.name = "typing", .type = FIELD_BOOLEAN},
    {0},
};

static struct slice payload(struct request *rq) {
    struct json_writer out;
    json_write_start_object(&out, rq->arena);
    json_write_text(&out, "messaging_product", "whatsapp");
    json_write_text(&out, "status", "read");
    json_write_raw(&out, "message_id", json_raw(json_get(rq->json, "messageId")));
    if (json_type(json_get(rq->json, "typing")) == JSON_TRUE) {
        json_write_object(&out, "typing_indicator");
        json_write_text(&out, "type", "text");
        json_write_end(&out);
    }
    return json_written(&out);
}

int read_receipt_send(struct request *rq) {
    const struct line *line = &rq->caller->line;
    const char *wamid = json_text(json_get(rq->json, "messageId"), rq->arena);
    if (send_check_sender(rq, wamid) || claim_check_message(rq, wamid))
        return -1;
    const char *token = state_account_token(rq, &line->account);
    if (!token)
        return -1;
    struct graph_call call = {
        .method = "POST",
        .path = arena_printf(rq->arena, "%s/messages",
                             graph_escape(rq->arena, slice_of(line->phone_number_id))),
        .token = token,
        .body = payload(rq),
    };
    struct json answer;
    return upstream_call(rq, UPSTREAM_SEND, &call, &answer) ? -1 : reply_data(rq, json_raw(answer));
}
