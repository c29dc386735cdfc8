/* The insert side of the outbox: an event is inserted in the transaction of its cause. */
#ifndef SWITCHBOARD_STORE_EVENT_H
#define SWITCHBOARD_STORE_EVENT_H

#include "store/contact.h"

/* What changed of a template. All strings but `name`, `language` and `change` may be NULL. */
struct template_change {
    const char *id, *name, *language, *category;
    const char *change;           /* status, quality, category or components */
    const char *status, *quality; /* as reported last */
    const char *previous;         /* of what changed, the value before */
    const char *reason;           /* why it has the status */
    struct slice raw;             /* the platform's object */
};

struct store_outgoing;  /* outgoing.h */
struct campaign_change; /* campaign.h */

/* The contents of an event. A member that does not apply is NULL or empty. */
struct store_event {
    const char *type;    /* of event_type.h, or TEST_EVENT_TYPE */
    const char *user_id; /* the owner of the webhooks */
    bool is_forward;     /* for webhooks of that kind, with a sequence of their own */
    int64_t sequence;    /* data.sequence; set by the store */
    int64_t now;
    const char *account_id, *waba_id, *line_id, *phone_number_id;
    struct contact contact; /* id NULL: unknown */
    const char *thread_id;
    const char *source;                     /* lead.created: new_contact, ad or lead_event */
    const char *wamid;                      /* the message that it is about, or that caused it */
    struct slice message;                   /* the platform's message object */
    struct slice status;                    /* the platform's status object */
    struct slice referral;                  /* lead.created, source ad */
    struct slice lead_event;                /* lead.created, source lead_event */
    const struct template_change *template; /* template.status; NULL: another type */
    const struct store_outgoing *outgoing;  /* outgoing.finished; NULL: another type */
    const struct campaign_change *campaign; /* campaign.changed; NULL: another type */
};

/* Makes the body of an event whose sequence is set; the result is in `arena`. */
typedef struct slice event_writer(struct arena *arena, const struct store_event *event);

#endif
