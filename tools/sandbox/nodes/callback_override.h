/* The callback URLs that an account or a number has instead of that of the app: subscribed_apps of
 * an account and webhook_configuration of a number. An account whose subscription was deleted gets
 * webhooks nevertheless. Called under the lock of the state. */
#ifndef SANDBOX_CALLBACK_OVERRIDE_H
#define SANDBOX_CALLBACK_OVERRIDE_H

#include "state/graph_target.h"

/* GET, POST and DELETE /{waba-id}/subscribed_apps. */
void subscription_list(struct exchange *exchange, const struct target *target);
void subscription_add(struct exchange *exchange, const struct target *target);
void subscription_remove(struct exchange *exchange, const struct target *target);

/* Appends {data: [...]}, the apps that are subscribed to the account. */
void subscription_print(struct buffer *out, const char *waba_id);

/* Sets or deletes the callback of a number by the parameter webhook_configuration. */
void override_set(struct exchange *exchange, const struct target *target,
                  const cJSON *configuration);

/* Appends the callback URLs of a number as an object {application, whatsapp_business_account,
 * phone_number}. */
void override_print(struct buffer *out, const char *waba_id, const char *phone_id);

#endif
