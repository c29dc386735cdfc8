/* Interactive messages: the kinds and their limits. */
#ifndef SANDBOX_INTERACTIVE_H
#define SANDBOX_INTERACTIVE_H

#include "judge/sending.h"

/* Checks the content of an interactive message. Returns false after answering with an error. */
bool interactive_check(struct send *send, const cJSON *interactive);

#endif
