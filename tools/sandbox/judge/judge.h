/* The judge: whether the platform would send a message. `message_rules.json` declares the members
 * of each type of message; what such rules cannot express is checked in C. All calls are made under
 * the lock of the state. A check that returns false has answered with the platform's error. */
#ifndef SANDBOX_JUDGE_H
#define SANDBOX_JUDGE_H

#include "state/account.h"
#include "wire/exchange.h"

enum rule_kind {
    RULE_STRING,
    RULE_SCALAR, /* string or number */
    RULE_NUMBER,
    RULE_FLAG,
    RULE_OBJECT,
    RULE_LIST, /* of objects */
    RULE_ANY
};

struct rule {
    const char *name;
    enum rule_kind kind;
    bool required;
    size_t min;                 /* characters of a string, items of a list */
    size_t max;                 /* 0 = no limit */
    const char *choices;        /* "a|b|c", or NULL for any string */
    const struct rule *members; /* of the object or of each item; NULL = not checked */
};

/* Ends a rule table whose object may hold further members. */
#define RULE_OPEN "..."

/* A send while it is checked: what all checks of its parts use. */
struct send {
    struct exchange *exchange;
    const cJSON *body;
    const struct account *account;
    const struct phone *phone;
    const char *type;
    const char *to;         /* or NULL */
    const char *recipient;  /* or NULL */
    bool is_marketing;      /* by the edge that takes marketing templates alone */
    bool template_accepted; /* the answer carries message_status */
    bool is_of_marketing;   /* a template of this category, by any edge */
};

/* A type of message, or a kind of interactive message, whose rules have its name. */
struct message_type {
    const char *name;
    /* What the rules cannot express. May be NULL. */
    bool (*check)(struct send *send, const cJSON *content);
    bool list; /* a list: the rules are those of each item, and `check` applies them */
};

/* The types of messages, ended by a NULL name. */
extern const struct message_type message_types[];

/* Returns the rules of this name, ended by a NULL name or by one with the name RULE_OPEN. Ends the
 * program when the file has none: a list of names that is not the file's. */
const struct rule *rules_find(const char *name);

/* Checks `object`, which is at `path` in the request, against `rules`. */
bool rules_check(struct exchange *exchange, const char *path, const cJSON *object,
                 const struct rule *rules);

/* Brings the members of `object` (NULL: none) into the form that `rules` describe, as the platform
 * does before its checks: removes those that are null, and replaces JSON text where an object or a
 * list is wanted. In a form, which has texts only, the text of a number or a flag is replaced too.
 */
void rules_settle(cJSON *object, const struct rule *rules, bool form);

/* Checks an interactive object that follows the rules of its type and action. */
bool interactive_check(struct send *send, const cJSON *interactive);

/* Checks a template message against the template's definition: whether it exists in that language,
 * may be sent to this recipient, and has the right parameters. */
bool template_check(struct send *send, const cJSON *content);

/* Checks the components of a new template, or of one that is edited, whose language and category
 * are given; NULL is no list. */
bool template_definition_check(struct exchange *exchange, const char *language,
                               const char *category, const cJSON *components);

/* Checks that templates may have this language. */
bool template_language_check(struct exchange *exchange, const char *language);

/* Checks that `object`, which is at `path` in the request, holds media that the account may send:
 * an id that it owns, or a link. */
bool media_reference_check(struct send *send, const char *path, const cJSON *object);

/* Whether the text begins as an http or https URL. */
bool is_web_url(const char *text);

#endif
