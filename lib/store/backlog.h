/* The events that wait for delivery, for the monitoring. */
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

#endif
