/* The kinds of webhook updates, which webhook_kinds.json lists with their templates. */
#ifndef SANDBOX_WEBHOOK_KINDS_H
#define SANDBOX_WEBHOOK_KINDS_H

#include <cjson/cJSON.h>

#include "base/buffer.h"

/* A kind of update. In its templates a string value may hold
 *   ${x}    variable x (webhook_update.h); a member with no other text is left out if x is not set
 *   #{x}    the same as a number
 *   @error  the error object of the update's `code`
 * and the member "..." stands for the members of the parts of the file that it names. Numbers and
 * ids in templates are invented. */
struct webhook_kind {
    const char *name;
    const char *field; /* changes[].field; `messages` unless the file gives it */
    const char *list;  /* member of the value with the element; NULL: the element is the value;
                        * `messages` unless the file gives a field */
    const char *media; /* start of the MIME type if the kind has media, or NULL */
    const cJSON *element;
    const cJSON *contact; /* the contact beside the element, or NULL */
    const cJSON *value;   /* more members of the value, or NULL */
};

/* Returns the kind of this name, or NULL. */
const struct webhook_kind *webhook_kind_find(const char *name);

/* Returns the part of templates with this name. */
const cJSON *webhook_part(const char *name);

/* Returns the template of a value that has a list. */
const cJSON *webhook_value(void);

/* Appends all kinds with their fields as a JSON array. */
void webhook_kinds_list(struct buffer *out);

#endif
