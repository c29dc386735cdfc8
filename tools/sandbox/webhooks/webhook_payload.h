/* Bodies of webhooks: updates, combined into batches as the platform does, in the platform's form.
 */
#ifndef SANDBOX_WEBHOOK_PAYLOAD_H
#define SANDBOX_WEBHOOK_PAYLOAD_H

#include "webhooks/webhook_update.h"

/* What several updates share: nothing, a POST, an entry of it, or a change of an entry. */
enum batch { BATCH_POSTS, BATCH_ENTRIES, BATCH_CHANGES, BATCH_MESSAGES };

/* A body under construction; all but `batch` starts as zero. */
struct payload {
    enum batch batch;
    cJSON *root;
    cJSON *ids; /* of the updates in it */
};

/* Adds an update to the body. Called under the lock of the state. */
void payload_add(struct payload *payload, const struct update *update);

/* Keeps the update that was added last for the phone of its user, if it is a message or a status of
 * one. */
void payload_show(const struct payload *payload, const struct update *update);

/* Sets `*body` to the body and `*ids` to the JSON list of the updates' ids, both in `arena`. The
 * payload, which is not empty before, is empty afterwards. */
void payload_end(struct payload *payload, struct arena *arena, struct slice *body,
                 struct slice *ids);

/* Returns the callback URL of an update, in `arena`: for messages that of the number, else that of
 * the account, else that of the settings, which may be NULL. Called under the lock of the state. */
const char *callback_url(struct arena *arena, const struct update *update);

#endif
