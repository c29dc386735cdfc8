/* Webhooks, and what was delivered to them, as JSON: in the API and in the output of the admin CLI.
 */
#ifndef SWITCHBOARD_WEBHOOK_JSON_H
#define SWITCHBOARD_WEBHOOK_JSON_H

#include "base/json.h"
#include "store/event_log.h"
#include "store/user_webhook.h"

/* Writes the members of a webhook into the open object. `code` is the decrypted code, null when its
 * p is NULL; NULL: the member is left out. */
void webhook_json_write(struct json_writer *out, const struct store_webhook *webhook,
                        const struct slice *code);

/* Writes the member `webhooks` of an event: the state of the delivery to each webhook. */
void delivery_json_write(struct json_writer *out, const struct store_event_entry *event);

#endif
