/* Internal to the store: the webhooks of a user that events are delivered to, and which of them
 * want an event. Lists are words separated by one space. */
#ifndef SWITCHBOARD_STORE_WEBHOOK_MATCH_H
#define SWITCHBOARD_STORE_WEBHOOK_MATCH_H

#include "engine/row.h"

/* A webhook with URL and code. Strings are NULL where the column is. */
struct webhook_match {
    const char *id;
    bool is_forward;
    const char *account_id, *event_types, *line_ids, *fields, *updates;
    bool splits_messages;
};

/* SQL: the webhook `w` is one that events can be sent to, unless it is paused or suspended. */
#define WEBHOOK_IS_SET "w.url <> '' AND w.code IS NOT NULL AND w.deleted_at IS NULL"

/* SQL: the id of the first webhook of the kind event of that user, or of the user ?1. */
#define WEBHOOK_FIRST_OF(user)                                                                     \
    "(SELECT f.id FROM webhook f WHERE f.user_id = " user " AND f.kind = 'event' "                 \
    "AND f.deleted_at IS NULL ORDER BY f.created_at, f.id LIMIT 1)"
#define WEBHOOK_FIRST WEBHOOK_FIRST_OF("?1")

/* The webhooks of one user. */
struct webhook_list {
    const char *user_id;
    struct webhook_match *list;
    size_t count;
};

/* Lists the webhooks of the user, who is not deleted, oldest first. */
bool webhook_match_list(struct store *store, struct arena *arena, const char *user_id,
                        struct webhook_list *found);

/* The same, but reads them once for each user: `known` has the lists that were read before. The
 * strings stay valid as long as `known`. Locks the user's counters, so that none of the webhooks is
 * deleted or unset until the transaction ends. */
bool webhook_match_once(struct store *store, struct buffer *known, const char *user_id,
                        struct webhook_list *found);

/* Whether the webhook wants events of this type about this line (NULL: about none). */
bool webhook_match_event(const struct webhook_match *webhook, const char *type,
                         const char *line_id);

#endif
