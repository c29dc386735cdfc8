/* POST /{phone-number-id}/messages. */
#ifndef SANDBOX_MESSAGES_H
#define SANDBOX_MESSAGES_H

#include "accounts.h"
#include "exchange.h"
#include "rules.h"

/* A send that is being checked. */
struct send {
    struct exchange *exchange;
    const cJSON *body;
    const struct account *account;
    const struct phone *phone;
    const char *type;
    const char *to;         /* or NULL */
    const char *recipient;  /* or NULL */
    bool template_accepted; /* the answer carries message_status */
};

/* A type of message: the rules of the object with its name, and a check of what they cannot
 * express. */
struct message_type {
    const char *name;
    const struct rule *rules;
    /* Returns false after answering with an error. May be NULL. */
    bool (*check)(struct send *send, const cJSON *content);
};

/* The table of types, ended by a NULL name. */
extern const struct message_type message_types[];

/* Answers a send from that number of that account. */
void message_send(struct exchange *exchange, const struct account *account,
                  const struct phone *phone);

/* True if the send in `body` goes to recipient: a BSUID, or a phone number in any spelling. */
bool message_is_for(const cJSON *body, const char *recipient);

/* True for CC.alnum and CC.ENT.alnum, the form of a business-scoped user id. */
bool text_is_bsuid(const char *text);

/* Returns a new message id, which the caller frees. `digits` are those of the chat's phone, or ""
 * for a BSUID chat. */
char *wamid_new(const char *digits);

/* The checks of single types. Return false after answering with an error. */
bool interactive_check(struct send *send, const cJSON *interactive);
bool template_check(struct send *send, const cJSON *content);

/* True if `object` holds media that this account may send: an id it owns, or a link. */
bool media_reference_check(struct send *send, const char *path, const cJSON *object);

#endif
