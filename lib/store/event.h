/* The outbox's entrance: events are written in the transaction of what they tell of. */
#ifndef SWITCHBOARD_STORE_EVENT_H
#define SWITCHBOARD_STORE_EVENT_H

#include "store/store.h"

/* All that an event tells. What does not apply is NULL or empty. */
struct store_event {
    const char *type;     /* message.received, lead.created, message.status, ping */
    const char *user_id;  /* whose webhook gets it */
    int64_t sequence;     /* data.sequence; set by the store */
    int64_t now;
    const char *account_id, *waba_id, *phone_number_id;
    struct {
        const char *id, *phone, *bsuid, *username, *name; /* id NULL: unknown */
    } contact;
    const char *thread_id;
    const char *source;      /* lead.created: new_contact, ad or lead_event */
    const char *wamid;       /* lead.created: the message that caused it */
    struct slice message;    /* the platform's message object */
    struct slice status;     /* the platform's status object */
    struct slice referral;   /* lead.created, source ad */
    struct slice lead_event; /* lead.created, source lead_event */
};

/* Makes the body of an event, its sequence known; the bytes live in `arena`. */
typedef struct slice event_writer(struct arena *arena, const struct store_event *event);

/* Adds the event to its user's outbox in a transaction of its own, whether or not a webhook is
 * configured: for `switchboard event test`. `id` is the new event's, evt_... */
enum store_result store_add_event(struct store *store, struct arena *arena,
                                  struct store_event *event, const char *id, event_writer *write);

#endif
