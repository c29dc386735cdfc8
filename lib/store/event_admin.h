/* The outbox for the operator: resumption, and events that a user may switch on. Like admin.h. */
#ifndef SWITCHBOARD_STORE_EVENT_ADMIN_H
#define SWITCHBOARD_STORE_EVENT_ADMIN_H

#include "store/store.h"

/* Ends every suspension and makes the pending deliveries due. `*emails`: the users with a webhook
 * that was suspended. */
enum store_result store_resume_webhooks(struct store *store, struct arena *arena, int64_t now,
                                        const char *const **emails, size_t *count);

/* Switches events of type message.status on or off for the first webhook of the user
 * (first_webhook.h), which is inserted if there is none. STORE_NOT_FOUND: no such user. */
enum store_result store_upsert_wants_message_status(struct store *store, struct arena *arena,
                                                    const char *email, bool wanted, int64_t now);

#endif
