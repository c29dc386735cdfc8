/* Marking a thread as done, by its owner: what waits in it needs no answer, and a message that
 * failed no retry. */
#ifndef SWITCHBOARD_STORE_DONE_MARK_H
#define SWITCHBOARD_STORE_DONE_MARK_H

#include "store/store.h"

/* What is left in a thread; INT64_MAX: nothing, or never. */
struct store_done {
    int64_t waiting_since, failed_at;
    int64_t done_at;
};

/* Marks as done what had happened in the view's thread up to the change `change` (inbox.h): a
 * message that arrived later still waits. The id of a merged thread means the one that remained.
 * STORE_NOT_FOUND: no such thread. */
enum store_result store_mark_done(struct store *store, const struct store_view *view,
                                  const char *thread_id, int64_t change, int64_t now,
                                  struct store_done *left);

/* Takes the last mark back. STORE_NOT_FOUND: no such thread. */
enum store_result store_unmark_done(struct store *store, const struct store_view *view,
                                    const char *thread_id, struct store_done *left);

#endif
