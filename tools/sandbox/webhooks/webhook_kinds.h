/* The templates of all kinds of webhook updates. */
#ifndef SANDBOX_WEBHOOK_KINDS_H
#define SANDBOX_WEBHOOK_KINDS_H

#include "base/buffer.h"

enum webhook_contact {
    CONTACT_NONE,
    CONTACT_INBOUND, /* name, username, phone, BSUID */
    CONTACT_SENT,    /* the same without username */
    CONTACT_UPDATED  /* name and phone alone */
};

/* A kind of update. In its templates ' means ", and a string value may hold
 *   ${x}    variable x (webhook_update.h); a member with no other text is left out if x is not set
 *   #{x}    the same as a number
 *   @error  the error object of the update's `code`
 * Numbers and ids in templates are invented. */
struct webhook_kind {
    const char *name;
    const char *field; /* changes[].field */
    const char *list;  /* member of the value with the element; NULL: the element is the value */
    enum webhook_contact contact;
    const char *element;
    const char *media; /* start of the MIME type if the kind has media, or NULL */
    const char *value; /* more members of the value, or NULL */
};

/* All kinds, ended by a NULL name. */
extern const struct webhook_kind webhook_kinds[];

/* Returns the kind of this name, or NULL. */
const struct webhook_kind *webhook_kind_find(const char *name);

/* Appends all kinds with their fields as a JSON array. */
void webhook_kinds_list(struct buffer *out);

#endif
