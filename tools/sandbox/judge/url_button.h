/* The action of a button that opens a URL: {name: "cta_url", parameters: {display_text, url}}. */
#ifndef SANDBOX_URL_BUTTON_H
#define SANDBOX_URL_BUTTON_H

#include "judge/sending.h"

/* The rules of `parameters`. */
extern const struct rule url_button_rules[];

/* Checks the URL of an action that follows the rules. Returns false after answering with an
 * error. */
bool url_button_check(struct send *send, const cJSON *action);

#endif
