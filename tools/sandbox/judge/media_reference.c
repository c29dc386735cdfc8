#include "judge/judge.h"

#include <strings.h>

#include "state/media_object.h"
#include "text/json_fields.h"
#include "wire/graph_error.h"

bool is_web_url(const char *text) {
    return strncasecmp(text, "http://", 7) == 0 || strncasecmp(text, "https://", 8) == 0;
}

bool media_reference_check(struct send *send, const char *path, const cJSON *object) {
    const char *id = json_digits(send->exchange->arena, json_get(object, "id"));
    const char *link = json_text(object, "link");
    if ((!id) == (!link)) {
        reply_error_details(send->exchange, 131009, "%s needs exactly one of id and link.", path);
        return false;
    }
    if (id && !media_usable(id, send->account)) {
        reply_error(send->exchange, 100,
                    "Param %s.id is not a valid whatsapp business account media attachment ID",
                    path);
        return false;
    }
    if (link && !is_web_url(link)) {
        reply_error(send->exchange, 100, "(#100) Param %s.link is not a valid URI.", path);
        return false;
    }
    return true;
}
