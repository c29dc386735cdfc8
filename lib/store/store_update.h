/* An update of a webhook payload (spec 6), as store_ingest stores it. */
#ifndef SWITCHBOARD_STORE_STORE_UPDATE_H
#define SWITCHBOARD_STORE_STORE_UPDATE_H

#include "base/slice.h"
#include "store/contact.h"

enum store_update_kind {
    UPDATE_MESSAGE,  /* an incoming message */
    UPDATE_ECHO,     /* a message that the business sent from its phone app */
    UPDATE_HISTORY,  /* an old message, incoming or outgoing */
    UPDATE_STATUS,   /* a status of an outgoing message */
    UPDATE_IDENTITY, /* a person's identity changed */
    UPDATE_LEAD,     /* automatic_events LeadSubmitted */
    UPDATE_TEMPLATE, /* a template's status, quality, category or components */
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

/* What a webhook of a call says of it. */
enum update_call {
    CALL_NONE,     /* it is no call */
    CALL_RINGS,    /* it began */
    CALL_MISSED,   /* it ended, and waits for an answer */
    CALL_ANSWERED, /* it ended after they talked */
};

/* UPDATE_MESSAGE, UPDATE_ECHO and UPDATE_HISTORY. */
struct update_message {
    struct contact who; /* the person on the other side */
    const char *wamid, *type;
    const char *context_wamid; /* NULL: not a reply */
    int64_t timestamp;         /* ms; when it was sent */
    bool is_outgoing;
    bool is_event;          /* it causes the event message.received; UPDATE_MESSAGE only */
    enum update_call call;  /* UPDATE_MESSAGE only */
    struct slice referral;  /* the ad that led to it; n == 0: none */
    const char *status;     /* of an outgoing message of the history; NULL: unknown */
    bool is_flow_reply;     /* it replies to a flow */
    const char *flow_id;    /* of the flow that it opens; NULL: none */
    const char *flow_token; /* of the flow that it opens or replies to; NULL: none */
    const char *media_id;   /* of its file; NULL: none */
    const char *media_type; /* its type; NULL: not known */
    const char *media_hash; /* its SHA-256, in hexadecimal; NULL: not known */
};

struct update_status {
    struct contact who; /* the recipient */
    const char *wamid, *status;
    const char *recipient; /* as the platform names it; "" when it does not */
    bool is_participant;   /* the recipient is a participant of a group */
    const char *category;  /* `pricing.category`; NULL: none */
    const char *tracking;  /* the request id that the send carried; NULL: none */
    int64_t timestamp;     /* ms */
    struct slice errors;   /* JSON array; n == 0: none */
    bool opts_out;         /* it failed because the recipient wants no marketing */
};

struct update_identity {
    struct contact before, after;
    const char *reason; /* number_change, user_id_update */
    int64_t at;         /* when it changed, ms */
};

struct update_lead {
    const char *wamid; /* of the message that led to it; NULL: unknown */
};

/* What changed of a template; members that are not reported are NULL. */
struct update_template {
    const char *name, *language; /* never NULL */
    const char *change;          /* never NULL: status, quality, category or components */
    const char *template_id, *status, *category, *quality;
    const char *reason;   /* why it has the status; NULL: the platform names none */
    const char *previous; /* the value before the change, if the platform reports it */
    int64_t at;           /* when, ms */
};

struct update_flow {
    const char *flow_id, *status;
};

/* What the person has chosen about marketing. */
enum update_choice { CHOICE_NONE, CHOICE_STOP, CHOICE_RESUME };

struct update_other {
    struct contact who; /* a person's identities, which belong together */
    int64_t at;         /* when, ms; 0: the platform does not report it */
    enum update_choice choice;
};

struct store_update {
    enum store_update_kind kind;
    const char *field;           /* changes[].field */
    const char *waba_id;         /* entry[].id */
    const char *phone_number_id; /* NULL: about the account, not about a line */
    struct slice body;           /* the platform's JSON object, byte for byte */
    const char *key;             /* identifies the update; NULL: the hash of `body` does */
    union {                      /* the member of the kind */
        struct update_message message;
        struct update_status status;
        struct update_identity identity;
        struct update_lead lead;
        struct update_template template;
        struct update_flow flow;
        struct update_other other;
    };
    enum store_outcome outcome; /* set by store_ingest */
};

#endif
