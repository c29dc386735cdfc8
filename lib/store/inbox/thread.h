/* Internal to the store: the rows of threads that the open transaction changes. The first change of
 * a thread is written at once, the others are collected and written last (engine/tally.h). All
 * values only grow, so the order of the writes does not matter; those that do not are counted again
 * from the messages. */
#ifndef SWITCHBOARD_STORE_THREAD_H
#define SWITCHBOARD_STORE_THREAD_H

#include "engine/sql.h"
#include "store/view.h"

/* A thread, and a message in it. */
struct thread {
    const char *new_id; /* its id if it is new */
    const char *user_id, *line_id, *contact_id;
    int64_t at;         /* the message's time, ms */
    int64_t change;     /* the number of this change (change.h) */
    bool is_inbound;    /* the message is from the contact */
    bool is_unread;     /* it counts as unread, and waits for an answer */
    bool is_answer;     /* it answers the messages before it */
    bool is_campaign;   /* a campaign sent it: it does not move the thread up */
    int64_t arrived_at; /* of an inbound message, by our clock */
    bool is_read_ahead; /* set by thread_read_ahead */
};

/* On a server, starts to read the thread, which thread_upsert then writes without waiting for the
 * server. The contact is locked. Needs no `change`. */
void thread_read_ahead(struct store *store, struct thread *thread);

/* Upserts the thread of the line and the contact; `at` becomes the time of its last message, and of
 * its last inbound one, if it is later. That of a campaign's message does not; a thread that only
 * campaigns have written to has the time 0. The thread's id is written to `id`. */
bool thread_upsert(struct store *store, const struct thread *thread, char id[ID_SIZE]);

/* Whether a message of this type is one of its own: no reaction, edit or deletion of another one.
 */
bool thread_counts_type(const char *type);

/* SQL: the same. `m` is the name of the message's row with a dot, or "". */
#define COUNTS_TYPE(m) m "type NOT IN ('edit', 'revoke', 'reaction')"

/* Has what waits in the thread, the time of the last answer and whether it failed counted again
 * from the messages, after the other writes of the transaction: after a change of messages that are
 * stored already, or of a block. False on failure. */
bool thread_recount(struct store *store, const char *id);

/* Finds the thread of the view with this id, or the one that remained of a merged thread. False:
 * there is none, or on failure. */
struct thread_found {
    char id[ID_SIZE];
    int64_t unread;
    int64_t waiting_since, failed_at, answered_at, done_at; /* INT64_MAX: none */
};
bool thread_find(struct store *store, const struct store_view *view, const char *id,
                 struct thread_found *found);

/* Whether the thread is assigned to none, or to a member whose threads the view has. */
bool thread_is_open(struct store *store, const struct store_view *view, const char *id);

/* Sets the number of the last change of a thread. False on failure. */
bool thread_change(struct store *store, const char *id, int64_t change);

/* Writes what is collected and forgets all threads: before rows of threads are read or moved. False
 * on failure. */
bool thread_write_changes(struct store *store);

#endif
