/* Reading the events of the outbox and the attempts to deliver them: for the operator those of all
 * users, for a user the own ones. Like listing.h, but a call takes several statements: it reads one
 * snapshot within a view only (store_hold_view). */
#ifndef SWITCHBOARD_STORE_EVENT_LOG_H
#define SWITCHBOARD_STORE_EVENT_LOG_H

#include "store/contact.h"
#include "store/listing.h"

struct store_event_attempt {
    const char *webhook_id;
    int attempt; /* counted from the first one to that webhook; a replay does not reset it */
    int64_t started_at, duration_ms;
    int status;                  /* HTTP status; 0: no answer */
    const char *error, *address; /* NULL: none */
    struct slice response_head;  /* p == NULL: none */
};

/* The delivery of an event to one webhook. */
struct store_event_delivery {
    const char *webhook_id;
    const char *state; /* as in the table delivery, or of a pending one: suspended or paused, when
                          its webhook is */
    int attempts;      /* since the last replay */
    int64_t next_attempt_at; /* INT64_MAX: no more attempts */
    int64_t last_attempt_at; /* INT64_MAX: none yet */
    int64_t finished_at;     /* INT64_MAX: not finished */
    int last_status;         /* 0: none */
    const char *last_error;  /* NULL: the last attempt did not fail */
};

/* An event and a summary of its deliveries. */
struct store_event_entry {
    const char *id, *email, *type;
    const char *state; /* as in the table event, or suspended: pending, but each webhook for which
                          it is pending is suspended */
    int64_t sequence;
    int attempts; /* since the last replay; the largest number */
    int64_t created_at;
    int64_t next_attempt_at; /* the earliest; INT64_MAX: no more attempts */
    int64_t finished_at;     /* INT64_MAX: not finished */
    int last_status;         /* of the last failed attempt, else of the last one; 0: none */
    const char *last_error;  /* NULL: no delivery has failed last */
    const char *wamid;       /* the message that it is about; NULL: none */
    struct contact contact;  /* as it is now; id NULL: about none */
    const struct store_event_delivery *deliveries; /* in the order of the webhooks' ids */
    size_t delivery_count;
    struct slice body; /* store_find_event only, and so are the attempts */
    const struct store_event_attempt *log;
    size_t log_count;
};

/* Lists events in the order of their ids, which is the order of their creation; with `failed` only
 * those whose last attempt failed. `page->after` need not exist. */
enum store_result store_list_events(struct store *store, struct arena *arena, bool failed,
                                    const struct store_page *page,
                                    struct store_event_entry **events, size_t *count);

/* What a list of a user's events contains. */
struct store_event_filter {
    const char *state, *type; /* NULL: any; `state` as in the table event */
    bool failed;              /* only those whose last attempt failed */
    int64_t since, until;     /* created at `since` or later, and before `until` */
    const char *webhook_id;   /* NULL: any; else the events are shown as delivered to this webhook:
                                 state and failure are those of the delivery */
    const char *event_id, *wamid, *contact_id; /* at most one: what is searched for; else NULL */
};

/* Lists the user's events that match the filter, the newest first: at most `page->limit` of those
 * older than the event `page->after`, which need not exist; NULL: the newest ones. An index answers
 * each single condition; further ones are compared row by row. */
enum store_result store_list_user_events(struct store *store, struct arena *arena,
                                         const char *user_id,
                                         const struct store_event_filter *filter,
                                         const struct store_page *page,
                                         struct store_event_entry **events, size_t *count);

/* Finds an event of the user, or of any user with `user_id` NULL, with its body, its deliveries
 * and its attempts, webhook by webhook, oldest first. STORE_NOT_FOUND: there is none. */
enum store_result store_find_event(struct store *store, struct arena *arena, const char *user_id,
                                   const char *id, struct store_event_entry *event);

#endif
