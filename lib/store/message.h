/* Messages and their statuses. As in store.h, strings and arrays are in the `arena`; a list costs
 * as much as the rows that it returns, for any number of rows in the database. */
#ifndef SWITCHBOARD_STORE_MESSAGE_H
#define SWITCHBOARD_STORE_MESSAGE_H

#include "store/actor.h"
#include "store/listing.h"

struct message {
    const char *id, *wamid, *thread_id, *line_id, *direction, *source, *type, *status;
    const char *context_wamid; /* NULL: not a reply */
    int64_t status_at, timestamp;
    struct slice body;  /* JSON; n == 0: not known */
    struct slice error; /* JSON; n == 0: none */
    int64_t change;
    struct actor by; /* who sent it by a session or a scoped token; id NULL: no one of these */
};

/* A place in a list that is ordered by a number and an id. */
struct list_key {
    int64_t number;
    const char *id;
};

enum message_order {
    MESSAGES_OLDER,  /* before the key, newest first, by (timestamp, id) */
    MESSAGES_NEWER,  /* after the key, oldest first, by (timestamp, id) */
    MESSAGES_CHANGED /* after the key, by (change, id) */
};

/* Lists at most `limit` messages of the thread. */
enum store_result store_list_messages(struct store *store, struct arena *arena,
                                      const char *thread_id, enum message_order order,
                                      const struct list_key *key, size_t limit,
                                      struct message **messages, size_t *count);

/* Lists the messages of all threads of a contact, oldest first, by (timestamp, id), without their
 * bodies. STORE_CONFLICT: `page->after` is not a message of the contact. */
enum store_result store_list_contact_messages(struct store *store, struct arena *arena,
                                              const char *contact_id, const struct store_page *page,
                                              struct message **messages, size_t *count);

/* A status that the platform reported. */
struct message_status {
    const char *status, *recipient;
    int64_t timestamp, received_at;
    struct slice body;
};

/* Finds the message of the view with this id (user_id NULL: of any user), or with this wamid; of
 * several the one that was stored last. STORE_NOT_FOUND: there is none. */
enum store_result store_find_message(struct store *store, struct arena *arena,
                                     const struct store_view *view, const char *id,
                                     const char *wamid, struct message *message);

/* Whether messages have this file of the platform, but none that the view has. */
enum store_result store_is_foreign_media(struct store *store, const struct store_view *view,
                                         const char *media_id, bool *is_foreign);

/* Lists the statuses of a message in the order of their times. */
enum store_result store_list_statuses(struct store *store, struct arena *arena,
                                      const char *message_id, struct message_status **statuses,
                                      size_t *count);

/* --- internal to the store --- */

/* SQL: the columns of a message `m`, which message_layout reads; with another text as the body. */
#define MESSAGE_COLUMNS_WITH(body)                                                                 \
    "m.id, m.wamid, m.thread_id, m.line_id, m.direction, m.source, m.type, m.status, "             \
    "m.status_at, m.timestamp, m.context_wamid, " body ", m.error, m.changed, "                    \
    "m.by_id, m.by_name"
#define MESSAGE_COLUMNS MESSAGE_COLUMNS_WITH("m.body")
struct row_layout;
extern const struct row_layout message_layout;

#endif
