#include "judge/url_button.h"

#include "judge/media_reference.h"
#include "text/json_fields.h"
#include "wire/graph_error.h"

const struct rule url_button_rules[] = {
    {.name = "display_text", .kind = RULE_STRING, .required = true, .min = 1, .max = 20},
    {.name = "url", .kind = RULE_STRING, .required = true, .min = 1},
    {.name = NULL},
};

bool url_button_check(struct send *send, const cJSON *action) {
    const char *url = json_text(json_get(action, "parameters"), "url");
    if (is_web_url(url))
        return true;
    reply_error_details(send->exchange, 131009, "The URL of the button is not a valid URL.");
    return false;
}
