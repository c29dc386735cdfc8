/* The outbox's exit: events on their way to webhooks, as couriers work on them (spec 6).
 *
 * An event is pending until it is delivered (done), given up (dead) or not wanted any more
 * (cancelled). A courier that works on one holds a lease; when it dies, the lease runs out and the
 * event is due again. So every event arrives at least once, and several couriers share the work.
 * A webhook that only failed for five days, or that answered 410, is suspended: URL and code stay,
 * its events wait, and once an hour one of them is tried.
 */
#ifndef SWITCHBOARD_STORE_OUTBOX_H
#define SWITCHBOARD_STORE_OUTBOX_H

#include "store/store.h"

enum {
    OUTBOX_LEASE_MS = 60 * 1000,                       /* longer than any delivery takes */
    OUTBOX_PROBE_MS = 60 * 60 * 1000,                  /* between tries of a suspended webhook */
    OUTBOX_SUSPEND_AFTER_MS = 5 * 24 * 60 * 60 * 1000, /* of failures alone */
};

/* A user with pending events. */
struct store_due {
    const char *user_id;
    const char *url;   /* NULL: none of them can be delivered now */
    bool is_suspended; /* one event may be tried */
    bool is_failing;   /* nothing has arrived since a failure */
};

/* The next users with pending events in the order of their ids: at most `limit`, those after
 * `after`. Fewer than `limit`: there are no more. */
enum store_result store_list_due(struct store *store, struct arena *arena, const char *after,
                                 size_t limit, int64_t now, struct store_due **due, size_t *count);

/* How many events of a user to take at most. */
struct store_share {
    const char *user_id;
    size_t limit;
};

/* What became of an attempt. */
enum store_verdict {
    VERDICT_DELIVERED,
    VERDICT_RETRY, /* at next_attempt_at */
    VERDICT_DEAD,  /* no more attempts */
    VERDICT_GONE,  /* 410: no more attempts of this event, and the webhook is suspended */
};

struct store_attempt {
    const char *event_id, *user_id;
    bool is_probe;
    enum store_verdict verdict;
    int64_t next_attempt_at; /* VERDICT_RETRY */
    int64_t started_at, duration_ms;
    int status;                 /* HTTP status; 0: no answer */
    const char *error;          /* NULL when delivered */
    const char *address;        /* connected to, or refused; NULL: there was none */
    struct slice response_head; /* the first KB of the answer's body */
};

/* What a courier brings and wants. */
struct store_exchange {
    const char *owner; /* names the courier: unique, and the same all its life */
    int64_t now;
    const struct store_attempt *attempts; /* that have ended */
    size_t attempt_count;
    const struct store_share *shares; /* of events to take */
    size_t share_count;
};

/* An event to deliver, and where to. */
struct store_delivery {
    const char *event_id, *user_id, *type;
    struct slice body;
    int attempts; /* this one included; counted from the last replay */
    const char *url;
    struct slice sealed_code;          /* its place: webhook_code_context */
    struct slice sealed_previous_code; /* p == NULL: none that still signs; the same place */
    bool is_probe;                     /* the webhook is suspended */
};

/* In one transaction: first ends leased events by what became of them, then leases others.
 *
 * Attempts are logged, and the webhooks' account of success and failure is kept. A delivery counts
 * whoever holds the lease by now; a failure only while the owner does. An attempt that began before
 * its webhook was changed says nothing about the webhook. A failed probe costs its event none of
 * its attempts.
 *
 * Of one user's events no first attempt is handed out while the first attempt of an earlier event
 * about the same contact waits or is under way; whatever failed once holds nothing up. Where more
 * waits than the share takes, contacts have their turns, one event each, and first attempts and
 * retries too: a contact's first event waits for at most two events of each other contact and as
 * many retries, however many wait. URL and codes are those of this moment; a webhook that is unset
 * by now, or not due for a probe, gives nothing. */
enum store_result store_exchange_events(struct store *store, struct arena *arena,
                                        const struct store_exchange *exchange,
                                        struct store_delivery **deliveries, size_t *count);

/* Gives a leased event back as if it had not been taken. */
enum store_result store_release_event(struct store *store, const char *owner, const char *event_id);

#endif
