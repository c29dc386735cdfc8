/* Internal to the store: the changes that a transaction makes to threads, collected in memory. The
 * first change of a thread is written at once, the others with the last one, or when the tally has
 * no room. A server keeps each version of a row that a transaction writes, and every later access
 * in it reads them all. All values only grow, so the order of the writes does not matter. */
#ifndef SWITCHBOARD_STORE_THREAD_TALLY_H
#define SWITCHBOARD_STORE_THREAD_TALLY_H

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

enum { THREADS_COLLECTED = 64 };

/* Zeroed at the start. A transaction that rolls back to a savepoint restores the copy that it made
 * when it set the savepoint. */
struct thread_tally {
    size_t count, next; /* the next entry to be replaced */
    struct thread_change {
        char id[ID_SIZE], line_id[ID_SIZE], contact_id[ID_SIZE]; /* line_id "": not known */
        int64_t at, inbound_at;                                  /* INT64_MIN: unchanged */
        int64_t unread, change;                                  /* 0: unchanged */
        bool is_pending;                                         /* not written yet */
    } list[THREADS_COLLECTED];
};

/* Collects the changes of the open transaction in `tally`, which is of the caller; NULL ends it. */
void thread_tally_collect(struct store *store, struct thread_tally *tally);

/* Writes what is collected and forgets all threads: before rows of threads are read or moved, and
 * before the transaction ends. Does nothing if nothing is collected. False on failure. */
bool thread_tally_write(struct store *store);

/* Whether the thread was changed before. */
bool thread_tally_has(const struct store *store, const struct thread *thread);

/* Adds a message to its thread, if that was changed before, and writes the thread's id to `id`.
 * False: the caller changes the row. */
bool thread_tally_add(struct store *store, const struct thread *thread, char id[ID_SIZE]);

/* Sets the number of the last change of a thread, if it was changed before. False: the caller
 * changes the row. */
bool thread_tally_change(struct store *store, const char *id, int64_t change);

/* The caller has changed the row of the thread. line_id and contact_id are NULL if they are not
 * known. False on failure. */
bool thread_tally_enter(struct store *store, const char *id, const char *line_id,
                        const char *contact_id);

#endif
