/* Retention: how long a user keeps messages and raw updates. Off until it is set; a resident
 * process deletes what is older, in small parts beside live traffic (prune.c), and what it deleted
 * is reported by GET /v2/changes. A contact on hold keeps everything. */
#ifndef SWITCHBOARD_STORE_RETENTION_H
#define SWITCHBOARD_STORE_RETENTION_H

#include "store/store.h"

enum {
    RETENTION_FOR_EVER = 0,
    RETENTION_LEAST_DAYS = 8, /* the platform repeats a webhook for 7 days */
    RETENTION_MOST_DAYS = 36500,
};

/* Days; RETENTION_FOR_EVER: no limit. */
struct store_retention {
    const char *user_id, *email; /* email: of store_list_retention alone */
    int64_t message_days; /* messages by the platform's time, then threads and contacts without;
                             queued sends and those of campaigns, by their end */
    int64_t raw_days;     /* system messages and other updates, as the platform sent them */
};

/* Reads what is set for the user. */
enum store_result store_find_retention(struct store *store, const char *user_id,
                                       struct store_retention *retention);

/* Sets it; the next walk through the threads begins at once. `now`: ms. */
enum store_result store_set_retention(struct store *store, const struct store_retention *retention,
                                      int64_t now);

/* Lists the users for whom a limit is set, by email. Strings are in the `arena`. */
enum store_result store_list_retention(struct store *store, struct arena *arena,
                                       struct store_retention **rows, size_t *count);

/* Deletes a part of what is older than its user keeps it: at most 500 messages with their statuses,
 * 500 updates or queued sends, or 50 threads, in one transaction; or goes on to further threads. As
 * store_delete_old_rows (housekeeping.h): call again until `*removed` is 0. */
enum store_result store_prune(struct store *store, int64_t now, size_t *removed);

/* A hold on a contact: neither retention nor an erasure deletes anything of it. */
struct store_hold {
    const char *user_id;    /* NULL: of any user */
    const char *contact_id; /* also of one that was merged into it */
    bool is_held;           /* false: ends it */
    int64_t now;            /* ms */
    int64_t held_at;        /* result; INT64_MAX: it is not held */
};

/* Sets or ends the hold; a repetition changes nothing. STORE_NOT_FOUND: there is no such contact,
 * or it is being erased. */
enum store_result store_hold_contact(struct store *store, struct store_hold *hold);

/* Reads since when the contact is held; INT64_MAX: it is not. */
enum store_result store_find_hold(struct store *store, const char *contact_id, int64_t *held_at);

/* What is gone from a thread. */
struct store_removal {
    const char *thread_id;
    int64_t before; /* messages that were sent before; INT64_MAX: the whole thread */
    int64_t change; /* its number, in one order with those of the threads (inbox.h) */
};

enum { REMOVALS_KEPT_DAYS = 30 };

/* Lists at most `limit` removals after the change `after`, in the order of their changes. The last
 * one of each thread is kept, for REMOVALS_KEPT_DAYS. */
enum store_result store_list_removals(struct store *store, struct arena *arena,
                                      const struct store_view *view, int64_t after, size_t limit,
                                      struct store_removal **rows, size_t *count);

#endif
