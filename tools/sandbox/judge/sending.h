/* A send while it is checked: what all checks of its parts use. */
#ifndef SANDBOX_SENDING_H
#define SANDBOX_SENDING_H

#include "judge/rules.h"
#include "state/account.h"
#include "wire/exchange.h"

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

/* A type of message, or a kind of interactive message: the rules of its object, and a check of what
 * they cannot express. */
struct message_type {
    const char *name;
    const struct rule *rules; /* NULL: the check alone */
    /* Returns false after answering with an error. May be NULL. */
    bool (*check)(struct send *send, const cJSON *content);
    bool list; /* a list: the rules are those of each item, and `check` applies them */
};

#endif
