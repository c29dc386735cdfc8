/* Storing the updates of a webhook payload (spec 6): one call stores all of them in one
 * transaction. */
#ifndef SWITCHBOARD_STORE_INGEST_H
#define SWITCHBOARD_STORE_INGEST_H

#include "store/event.h"
#include "store/store_identity.h"

enum store_update_kind {
    UPDATE_MESSAGE,  /* an incoming message */
    UPDATE_ECHO,     /* a message that the business sent from its phone app */
    UPDATE_HISTORY,  /* an old message, incoming or outgoing */
    UPDATE_STATUS,   /* a status of an outgoing message */
    UPDATE_IDENTITY, /* the person's identity changed from `before` to `who` */
    UPDATE_LEAD,     /* automatic_events LeadSubmitted */
    UPDATE_TEMPLATE, /* a template's status or category */
    UPDATE_FLOW,     /* a flow's status */
    UPDATE_OTHER,    /* anything else: stored as it is */
};

enum store_outcome {
    OUTCOME_STORED,
    OUTCOME_DUPLICATE,
    OUTCOME_NO_OWNER,   /* no such line or account, or the line of another account */
    OUTCOME_NO_CONTACT, /* it has no identity for a contact: stored as UPDATE_OTHER */
    OUTCOME_REFUSED,    /* it violated a constraint of the database: stored as UPDATE_OTHER */
};

struct store_update {
    enum store_update_kind kind;
    const char *field;           /* changes[].field */
    const char *waba_id;         /* entry[].id */
    const char *phone_number_id; /* NULL: about the account, not about a line */
    struct slice body;           /* the platform's JSON object, byte for byte */
    const char *key;             /* identifies the update; NULL: the hash of `body` does */
    struct store_identity who, before;
    const char *wamid;
    const char *type; /* of a message */
    const char *context_wamid;
    int64_t timestamp;      /* ms; when it happened */
    bool is_outgoing;       /* history */
    bool is_event;          /* a message that causes the event message.received */
    struct slice referral;  /* the ad that led to it */
    const char *flow_token; /* of a flow reply, or of a message that opens a flow */
    bool is_flow_reply;
    const char *status;    /* a status; a template's or flow's state */
    const char *recipient; /* of a status: as the platform names it; "" when it does not */
    bool is_participant;   /* of a status: the recipient is a participant of a group */
    const char *tracking;  /* of a status: the request id that the send carried; NULL: none */
    struct slice errors;
    const char *name, *language, *category, *reason; /* templates, flows */
    const char *object_id;      /* of a template or flow; of the flow that a message opens */
    enum store_outcome outcome; /* set by store_ingest */
};

/* Stores the `count` updates in order; a repeated update changes nothing. Inserts the events that
 * they cause into the outbox in the same transaction; `write` makes their bodies. `now` is in ms.
 * Sets `outcome` of each update and `*events`, the number of events inserted. STORE_OK: everything
 * is on disk. Works in `arena`. */
enum store_result store_ingest(struct store *store, struct arena *arena,
                               struct store_update *updates, size_t count, int64_t now,
                               event_writer *write, size_t *events);

#endif
