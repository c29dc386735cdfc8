/* The delivery side of the outbox: a courier leases events, delivers them and reports the results
 * (spec 6).
 *
 * An event has a delivery for each webhook that wants it. A delivery is pending until it is done,
 * given up (dead) or no longer wanted (cancelled). A courier holds a lease on each delivery that it
 * makes. When the courier dies, the lease expires and the delivery is due again. So every event is
 * delivered at least once, and several couriers can share the work. A webhook is suspended when it
 * has only failed for five days, or when it answers 410: its URL and code stay, its events wait,
 * and once an hour one of them is sent as a probe. Webhooks do not wait for each other.
 */
#ifndef SWITCHBOARD_STORE_OUTBOX_H
#define SWITCHBOARD_STORE_OUTBOX_H

#include "store/store.h"

enum {
    OUTBOX_LEASE_MS = 60 * 1000,                       /* longer than any delivery takes, ms */
    OUTBOX_PROBE_MS = 60 * 60 * 1000,                  /* between probes of a suspended webhook */
    OUTBOX_SUSPEND_AFTER_MS = 5 * 24 * 60 * 60 * 1000, /* of failures without a success */
};

/* Lists the ids of the webhooks with a pending delivery whose time has come, leased or not, in
 * their order. The cost grows with the webhooks that have pending deliveries. `now` is in ms. */
enum store_result store_list_due(struct store *store, struct arena *arena, int64_t now,
                                 const char ***ids, size_t *count);

/* A webhook to which an event can be delivered now. */
struct store_due {
    const char *webhook_id, *user_id;
    const char *url;   /* NULL: there is no such webhook, and the rest is not set */
    bool is_suspended; /* one event may be sent as a probe */
    bool is_failing;   /* no success since the last failure */
};

/* Reads the `count` webhooks `ids` to `due`, which has room for all. The `url` is NULL if the
 * webhook was deleted, may not be tried now, or has no due delivery without a lease. */
enum store_result store_read_due(struct store *store, struct arena *arena, const char *const *ids,
                                 size_t count, int64_t now, struct store_due *due);

/* The number of a webhook's events to lease at most. */
struct store_share {
    const char *webhook_id, *user_id;
    size_t limit;
};

/* The result of an attempt. */
enum store_verdict {
    VERDICT_DELIVERED,
    VERDICT_RETRY, /* at next_attempt_at */
    VERDICT_DEAD,  /* no more attempts */
    VERDICT_GONE,  /* 410: no more attempts of this event, and the webhook is suspended */
};

struct store_attempt {
    const char *event_id, *webhook_id, *user_id;
    bool is_probe;
    enum store_verdict verdict;
    int64_t next_attempt_at; /* VERDICT_RETRY */
    int64_t started_at, duration_ms;
    int status;          /* HTTP status; 0: no answer */
    const char *error;   /* NULL when delivered */
    const char *address; /* the address connected to, or refused by the egress rules; NULL: none */
    struct slice response_head; /* the first KB of the answer's body */
};

/* The attempts that a courier reports, and the events that it requests. */
struct store_exchange {
    const char *courier; /* its id: unique, never changed while it runs */
    int64_t now;
    const struct store_attempt *attempts; /* ended attempts */
    size_t attempt_count;
    const struct store_share *shares; /* numbers of events to lease */
    size_t share_count;
};

/* An event to deliver, and its webhook. */
struct store_delivery {
    const char *event_id, *webhook_id, *user_id, *type;
    bool is_forward;   /* the body is the platform's */
    struct slice body; /* p == NULL: it cannot be made of the stored POST */
    int attempts;      /* including this one; since the last replay */
    const char *url;
    struct slice sealed_code;          /* sealed with webhook_code_context */
    struct slice sealed_previous_code; /* p == NULL: none signs any more; same context */
    bool is_probe;                     /* the webhook is suspended */
};

/* Applies the results of attempts, then leases other events, in one transaction. A repetition of
 * the call applies no attempt again: event, webhook and started_at identify it. It leases other
 * events; those that the first call leased wait until their lease ends. Which attempts count and
 * which events are leased: outbox.c. */
enum store_result store_exchange_events(struct store *store, struct arena *arena,
                                        const struct store_exchange *exchange,
                                        struct store_delivery **deliveries, size_t *count);

/* Returns a leased event to the queue without counting an attempt. */
enum store_result store_release_event(struct store *store, const char *courier,
                                      const char *event_id, const char *webhook_id);

#endif
