#include "api/sent_record.h"

#include <stdio.h>

#include "api/keep.h"
#include "payload/attachment.h"
#include "payload/send_answer.h"
#include "web/reply.h"

/* Keeps the send, and with a key the reply. */
static void keep(struct request *rq, const struct store_send *send, struct idempotency *once) {
    struct kept_record record = {.send = *send};
    char what[512]; /* not in the arena: memory may be exhausted */
    if (once->key.key)
        idempotency_describe(rq, once, &record);
    snprintf(what, sizeof what, "%s was accepted but not recorded", send->wamid);
    once->is_kept = keep_record(rq, &record, what, store_reason(rq->caller->store));
}

void sent_record(struct request *rq, struct json answer, struct store_send *send,
                 struct idempotency *once) {
    const struct caller *caller = rq->caller;
    send->user_id = caller->user.id;
    send->account_id = caller->line.account_id;
    send->line_id = caller->line.id;
    send->wamid = send_answer_wamid(rq->arena, answer);
    send->wa_id = send->phone ? send_answer_phone(rq->arena, answer) : NULL;
    if (send->phone)
        send->bsuid = NULL;
    send->by_id = caller->actor.id;
    send->by_name = caller->actor.id ? caller->actor.name : NULL;
    send->media_id = attachment_id(rq->arena, send->body);
    send->archived_id = *rq->config->media_archive ? send->media_id : NULL;
    id_make(send->new_contact_id, "con_", rq->now);
    id_make(send->new_thread_id, "thr_", rq->now);
    id_make(send->message_id, "msg_", rq->now);
    enum store_result result = store_insert_send(caller->store, send);
    if (result == STORE_UNKNOWN) /* a lack of memory may be temporary; the call is idempotent */
        result = store_insert_send(caller->store, send);
    if (result != STORE_OK)
        keep(rq, send, once);
}

int sent_answer(struct request *rq, const struct store_idempotency *stored, const char *input,
                const char *phone, struct json *answer) {
    struct json_writer out;
    struct json_error error;
    json_write_start_object(&out, rq->arena);
    json_write_text(&out, "messaging_product", "whatsapp");
    json_write_array(&out, "contacts");
    json_write_object(&out, NULL);
    json_write_text(&out, "input", input);
    if (!phone)
        json_write_text(&out, "user_id", input);
    else if (stored->wa_id)
        json_write_text(&out, "wa_id", stored->wa_id);
    json_write_end(&out);
    json_write_end(&out);
    json_write_array(&out, "messages");
    json_write_object(&out, NULL);
    json_write_text(&out, "id", stored->wamid);
    return json_read(rq->arena, json_written(&out), answer, &error)
               ? fail(rq, INTERNAL, "The gateway made an answer that is no JSON.")
               : 0;
}
