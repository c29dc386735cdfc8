/* What the platform's webhooks tell, in the store's terms: one call takes all updates of a payload,
 * in one transaction (spec 6). */
#ifndef SWITCHBOARD_STORE_INGEST_H
#define SWITCHBOARD_STORE_INGEST_H

#include "store/event.h"
#include "store/store_identity.h"

enum store_update_kind {
    UPDATE_MESSAGE,   /* a message that came in now */
    UPDATE_ECHO,      /* one that the business wrote in its phone app */
    UPDATE_HISTORY,   /* an old one, in or out */
    UPDATE_STATUS,    /* what became of one we sent */
    UPDATE_IDENTITY,  /* `before` is now `who` */
    UPDATE_LEAD,      /* automatic_events LeadSubmitted */
    UPDATE_TEMPLATE,  /* a template's status or category */
    UPDATE_FLOW,      /* a flow's status */
    UPDATE_OTHER,     /* anything else: kept as it is */
};

enum store_outcome {
    OUTCOME_STORED,
    OUTCOME_DUPLICATE,
    OUTCOME_NOT_OURS, /* no such line or account, or a line under another account's id */
    OUTCOME_NOBODY,   /* it names nobody it could belong to: kept as UPDATE_OTHER */
    OUTCOME_REFUSED,  /* it broke a rule of the database: kept as UPDATE_OTHER */
};

struct store_update {
    enum store_update_kind kind;
    const char *field;           /* changes[].field */
    const char *waba_id;         /* entry[].id */
    const char *phone_number_id; /* NULL: told of the account, not of a line */
    struct slice body;           /* the platform's object, its own bytes */
    const char *key;             /* tells it from others where there is no wamid */
    struct store_identity who, before;
    const char *wamid;
    const char *type;            /* of a message */
    const char *context_wamid;
    int64_t timestamp;           /* ms; when it happened */
    bool is_outgoing;            /* history */
    bool is_event;               /* a message that consumers are told of */
    struct slice referral;       /* the ad that led to it */
    const char *flow_token;      /* of a flow reply, or of a message that opens a flow */
    bool is_flow_reply;
    const char *status;          /* a status; a template's or flow's state */
    const char *recipient;       /* of a status: as the platform named it, "" when not */
    bool is_participant;         /* of a status: it names one of a group */
    const char *tracking;        /* of a status: what the send carried to be found by; NULL: none */
    struct slice errors;
    const char *name, *language, *category, *reason; /* templates, flows */
    const char *object_id;       /* the id of a template or flow; of the flow that a message opens */
    enum store_outcome outcome;  /* set by store_ingest */
};

/* Takes all updates in order, each once ever; events go into the outbox in the same transaction.
 * STORE_OK means that all of it is on disk. Sets each update's outcome and `*events`, the number of
 * events made. */
enum store_result store_ingest(struct store *store, struct arena *arena,
                               struct store_update *updates, size_t count, int64_t now,
                               event_writer *write, size_t *events);

#endif
