/* Declared rules for the objects in a request, and the check against them. */
#ifndef SANDBOX_RULES_H
#define SANDBOX_RULES_H

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

/* Checks `object`, which is at `path` in the request, against `rules` (ended by a NULL name, or by
 * a rule with the name RULE_OPEN). Returns false after answering with an error. */
bool rules_check(struct exchange *exchange, const char *path, const cJSON *object,
                 const struct rule *rules);

/* Brings the members of `object` (NULL: none) into the form that `rules` describe, as the platform
 * does before its checks: removes those that are null, and replaces JSON text where an object or a
 * list is wanted. In a form, which has texts only, the text of a number or a flag is replaced too.
 */
void rules_settle(cJSON *object, const struct rule *rules, bool form);

#endif
