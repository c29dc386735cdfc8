/* The outbox for the operator: what is in it, and giving it a push. Like listing.h and admin.h. */
#ifndef SWITCHBOARD_STORE_EVENT_ADMIN_H
#define SWITCHBOARD_STORE_EVENT_ADMIN_H

#include "store/listing.h"

struct store_event_attempt {
    int attempt; /* counted from the first one ever */
    int64_t started_at, duration_ms;
    int status;                  /* HTTP status; 0: no answer */
    const char *error, *address; /* NULL: none */
    struct slice response_head;  /* p == NULL: none */
};

struct store_event_entry {
    const char *id, *email, *type;
    const char *state; /* pending, done, dead, cancelled; suspended: pending, but its webhook is */
    int64_t sequence;
    int attempts; /* since the last replay */
    int64_t created_at;
    int64_t next_attempt_at; /* INT64_MAX: there will be none */
    int64_t finished_at;     /* INT64_MAX: not finished */
    int last_status;         /* 0: none */
    const char *last_error;  /* NULL: the last attempt did not fail */
    struct slice body;       /* store_find_event only, as the attempts are */
    const struct store_event_attempt *log;
    size_t log_count;
};

/* The events in the order of their ids, which is that of their making; only those whose last
 * attempt failed when `failed`. `page->after` need not exist. */
enum store_result store_list_events(struct store *store, struct arena *arena, bool failed,
                                    const struct store_page *page,
                                    struct store_event_entry **events, size_t *count);

/* One event with its body and its attempts, oldest first, or STORE_NOT_FOUND. */
enum store_result store_find_event(struct store *store, struct arena *arena, const char *id,
                                   struct store_event_entry *event);

/* Makes the event pending and due, with all its attempts before it, whatever became of it before;
 * id and body stay. One that is being delivered now is left to that. An event of a contact that has
 * been merged since belongs to the one that remained, and keeps the order of that one's events.
 * STORE_NOT_FOUND: no such event. STORE_CONFLICT: its user has no webhook. */
enum store_result store_replay_event(struct store *store, const char *id, int64_t now);

/* The same for the events made from `since` on and before `until` that are there when the call
 * begins and whose users have a webhook, in transactions of at most 500 events. `*count` is how
 * many there were, also where it fails: those stay replayed. */
enum store_result store_replay_events(struct store *store, int64_t since, int64_t until,
                                      int64_t now, size_t *count);

/* Ends every suspension: what waits is due. `*emails` are the users whose webhook was suspended. */
enum store_result store_resume_webhooks(struct store *store, struct arena *arena, int64_t now,
                                        const char *const **emails, size_t *count);

/* Turns events of type message.status on or off for the user. STORE_NOT_FOUND: no such user. */
enum store_result store_want_message_status(struct store *store, const char *email, bool wanted,
                                            int64_t now);

#endif
