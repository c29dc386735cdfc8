#include "api/sent_record.h"

#include "base/log.h"

const char *sent_wamid(const struct request *rq, struct json answer) {
    const char *id = json_text(json_get(json_first(json_get(answer, "messages")), "id"), rq->arena);
    return id && *id ? id : NULL;
}

/* The phone in the platform's form (`wa_id`), which may differ from the one that was sent; NULL
 * when `wa_id` is not a phone. */
static const char *normalized_phone(struct json contact, struct arena *arena) {
    const char *wa_id = json_text(json_get(contact, "wa_id"), arena);
    return wa_id && *wa_id && wa_id[strspn(wa_id, "0123456789")] == '\0' ? wa_id : NULL;
}

void sent_record(struct request *rq, struct json answer, struct store_send *send) {
    const struct caller *caller = rq->caller;
    struct json contact = json_first(json_get(answer, "contacts"));
    send->user_id = caller->user.id;
    send->account_id = caller->line.account_id;
    send->line_id = caller->line.id;
    send->wamid = sent_wamid(rq, answer);
    send->wa_id = send->phone ? normalized_phone(contact, rq->arena) : NULL;
    if (send->phone)
        send->bsuid = NULL;
    id_make(send->new_contact_id, "con_", rq->now);
    id_make(send->new_thread_id, "thr_", rq->now);
    id_make(send->message_id, "msg_", rq->now);
    enum store_result result = store_insert_send(caller->store, send);
    if (result == STORE_UNKNOWN) /* a lack of memory may be temporary; the call is idempotent */
        result = store_insert_send(caller->store, send);
    if (result != STORE_OK)
        log_message(LOG_ERROR, "request %s: %s was accepted but not recorded: %s", rq->id,
                    send->wamid, store_reason(caller->store));
}

struct slice sent_answer(struct request *rq, const struct store_idempotency *stored,
                         const char *input, const char *phone) {
    struct json_writer out;
    json_write_start(&out, rq->arena);
    json_write_object(&out, NULL);
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
    json_write_end(&out);
    json_write_end(&out);
    json_write_end(&out);
    return json_written(&out);
}
