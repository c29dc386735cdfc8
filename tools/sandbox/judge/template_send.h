/* The send of a template, checked against the template's definition: whether it exists in that
 * language, may be sent to this recipient, and has the right parameters. */
#ifndef SANDBOX_TEMPLATE_SEND_H
#define SANDBOX_TEMPLATE_SEND_H

#include "judge/sending.h"

/* Checks the content of a template message. Returns false after answering with an error. */
bool template_check(struct send *send, const cJSON *content);

#endif
