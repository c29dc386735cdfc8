/* What waits, for the monitoring: events for their delivery, queued sends for the sender. */
#ifndef SWITCHBOARD_STORE_BACKLOG_H
#define SWITCHBOARD_STORE_BACKLOG_H

#include "store/store.h"

enum { STORE_BACKLOG_MOST = 10000 };

struct store_backlog {
    int64_t count;     /* of pending events; STORE_BACKLOG_MOST: that many or more */
    int64_t oldest_at; /* when the oldest of the counted events was created; INT64_MAX: none */
};

/* Counts the pending events: at most STORE_BACKLOG_MOST, so that the time does not grow with their
 * number. */
enum store_result store_count_backlog(struct store *store, struct store_backlog *backlog);

/* The rows of outgoing (outgoing.h) that have not ended; of more than STORE_BACKLOG_MOST, those
 * that expire first are counted. */
struct store_outgoing_backlog {
    int64_t due;       /* queued, and their time has come */
    int64_t scheduled; /* queued, for a later time */
    int64_t sending;
    int64_t oldest_at; /* since when the oldest of the due ones is due; INT64_MAX: none */
};

enum store_result store_count_outgoing(struct store *store, int64_t now,
                                       struct store_outgoing_backlog *backlog);

/* The rows of media_copy (media_copy.h) with something left to do; at most STORE_BACKLOG_MOST. */
struct store_media_backlog {
    int64_t queued;    /* attachments that are not copied yet */
    int64_t removed;   /* files of deleted messages that are not removed yet */
    int64_t oldest_at; /* when the oldest of the queued ones came; INT64_MAX: none */
};

enum store_result store_count_media_copies(struct store *store,
                                           struct store_media_backlog *backlog);

#endif
