/* Everything the platform tells a business by webhook, as templates. */
#ifndef SANDBOX_WEBHOOK_KINDS_H
#define SANDBOX_WEBHOOK_KINDS_H

#include <stdbool.h>

enum webhook_contact {
    CONTACT_NONE,
    CONTACT_INBOUND, /* name, username, phone, BSUID */
    CONTACT_SENT,    /* the same without username */
    CONTACT_UPDATED  /* name and phone alone */
};

/* In templates ' stands for ", and a string value may hold
 *   ${x}    variable x (webhook_build.h); a member that is nothing else goes when x is not set
 *   #{x}    the same as a number
 *   @error  the error object of the update's `code`
 * Numbers and ids in them are made up. */
struct webhook_kind {
    const char *name;
    const char *field; /* changes[].field */
    const char *list;  /* value member the element is in; NULL: the element is the value */
    enum webhook_contact contact;
    const char *element;
    const char *media; /* start of the MIME type, where the kind carries media */
    const char *value; /* more members of the value, or NULL */
};

/* All kinds, ended by a NULL name. */
extern const struct webhook_kind webhook_kinds[];

/* NULL when there is none of that name. */
const struct webhook_kind *webhook_kind_find(const char *name);

#endif
