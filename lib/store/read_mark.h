/* Marking the messages of a thread as read, by its owner. */
#ifndef SWITCHBOARD_STORE_READ_MARK_H
#define SWITCHBOARD_STORE_READ_MARK_H

#include "store/store.h"

/* Marks the messages of the view's thread as read, up to the message with the id `up_to` in the
 * order of the thread; NULL: all. Messages stay read: an earlier `up_to` changes nothing.
 * `*unread` is the number that is left. The id of a merged thread means the one that remained.
 * STORE_NOT_FOUND: no such thread. STORE_CONFLICT: the message is not in the thread. */
enum store_result store_mark_read(struct store *store, const struct store_view *view,
                                  const char *thread_id, const char *up_to, int64_t *unread);

/* Makes the thread one with unread messages: their number, at least 1, is written to `*unread`. A
 * read mark ends it. STORE_NOT_FOUND: no such thread. */
enum store_result store_mark_unread(struct store *store, const struct store_view *view,
                                    const char *thread_id, int64_t *unread);

#endif
