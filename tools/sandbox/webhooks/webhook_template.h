/* The filling of the templates of webhook_kinds.h. */
#ifndef SANDBOX_WEBHOOK_TEMPLATE_H
#define SANDBOX_WEBHOOK_TEMPLATE_H

#include "webhooks/webhook_update.h"

/* Returns the template with the variables of the update replaced; the caller calls cJSON_Delete. */
cJSON *webhook_template_fill(const struct update *update, const char *template);

#endif
