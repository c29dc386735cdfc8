/* The outbox for the operator: listing, replay and resumption. Like listing.h and admin.h. */
#ifndef SWITCHBOARD_STORE_EVENT_ADMIN_H
#define SWITCHBOARD_STORE_EVENT_ADMIN_H

#include "store/listing.h"

struct store_event_attempt {
    int attempt; /* counted from the first attempt; a replay does not reset it */
    int64_t started_at, duration_ms;
    int status;                  /* HTTP status; 0: no answer */
    const char *error, *address; /* NULL: none */
    struct slice response_head;  /* p == NULL: none */
};

struct store_event_entry {
    const char *id, *email, *type;
    const char *state; /* as in the table event, or suspended: pending, but its webhook is */
    int64_t sequence;
    int attempts; /* since the last replay */
    int64_t created_at;
    int64_t next_attempt_at; /* INT64_MAX: no more attempts */
    int64_t finished_at;     /* INT64_MAX: not finished */
    int last_status;         /* 0: none */
    const char *last_error;  /* NULL: the last attempt did not fail */
    struct slice body;       /* store_find_event only, and so are the attempts */
    const struct store_event_attempt *log;
    size_t log_count;
};

/* Lists events in the order of their ids, which is the order of their creation; with `failed` only
 * those whose last attempt failed. `page->after` need not exist. */
enum store_result store_list_events(struct store *store, struct arena *arena, bool failed,
                                    const struct store_page *page,
                                    struct store_event_entry **events, size_t *count);

/* Finds an event, with its body and its attempts, oldest first, or STORE_NOT_FOUND. */
enum store_result store_find_event(struct store *store, struct arena *arena, const char *id,
                                   struct store_event_entry *event);

/* Makes the event pending and due with all its attempts ahead, whatever its state was; id and body
 * stay. An event that is being delivered now is not changed. The event of a contact that was merged
 * belongs to the contact that remained, in the order of that contact's events. STORE_NOT_FOUND: no
 * such event. STORE_CONFLICT: its user has no webhook. */
enum store_result store_replay_event(struct store *store, const char *id, int64_t now);

/* The same for the events that were created from `since` on and before `until` (ms), exist when the
 * call begins, and have a user with a webhook. Uses transactions of at most 500 events. `*count` is
 * the number of replayed events, on failure too: those stay replayed. */
enum store_result store_replay_events(struct store *store, int64_t since, int64_t until,
                                      int64_t now, size_t *count);

/* Ends every suspension and makes the pending events due. `*emails`: the users whose webhook was
 * suspended. */
enum store_result store_resume_webhooks(struct store *store, struct arena *arena, int64_t now,
                                        const char *const **emails, size_t *count);

/* Switches events of type message.status on or off for the user. STORE_NOT_FOUND: no such user. */
enum store_result store_upsert_wants_message_status(struct store *store, const char *email,
                                                    bool wanted, int64_t now);

#endif
