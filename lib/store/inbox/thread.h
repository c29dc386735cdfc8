/* Internal to the store: the rows of threads that the open transaction changes. The first change of
 * a thread is written at once, the others are collected and written last (engine/tally.h). All
 * values only grow, so the order of the writes does not matter. */
#ifndef SWITCHBOARD_STORE_THREAD_H
#define SWITCHBOARD_STORE_THREAD_H

#include "engine/sql.h"

/* A thread, and a message in it. */
struct thread {
    const char *new_id; /* its id if it is new */
    const char *user_id, *line_id, *contact_id;
    int64_t at;         /* the message's time, ms */
    int64_t change;     /* the number of this change (change.h) */
    bool is_inbound;    /* the message is from the contact */
    bool is_unread;     /* it counts as unread */
    bool is_read_ahead; /* set by thread_read_ahead */
};

/* On a server, starts to read the thread, which thread_upsert then writes without waiting for the
 * server. The contact is locked. Needs no `change`. */
void thread_read_ahead(struct store *store, struct thread *thread);

/* Upserts the thread of the line and the contact; `at` becomes the time of its last message, and of
 * its last inbound one, if it is later. The thread's id is written to `id`. */
bool thread_upsert(struct store *store, const struct thread *thread, char id[ID_SIZE]);

/* Sets the number of the last change of a thread. False on failure. */
bool thread_change(struct store *store, const char *id, int64_t change);

/* Writes what is collected and forgets all threads: before rows of threads are read or moved. False
 * on failure. */
bool thread_write_changes(struct store *store);

#endif
