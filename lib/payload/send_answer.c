#include "payload/send_answer.h"

#include <string.h>

const char *send_answer_wamid(struct arena *arena, struct json answer) {
    const char *id = json_text(json_get(json_first(json_get(answer, "messages")), "id"), arena);
    return id && *id ? id : NULL;
}

const char *send_answer_status(struct arena *arena, struct json answer) {
    return json_text(json_get(json_first(json_get(answer, "messages")), "message_status"), arena);
}

const char *send_answer_phone(struct arena *arena, struct json answer) {
    const char *wa_id =
        json_text(json_get(json_first(json_get(answer, "contacts")), "wa_id"), arena);
    return wa_id && *wa_id && wa_id[strspn(wa_id, "0123456789")] == '\0' ? wa_id : NULL;
}
