/* What was done to templates, and how often the platform lets it be done again. All calls are made
 * under the write lock of the state. */
#ifndef SANDBOX_TEMPLATE_QUOTA_H
#define SANDBOX_TEMPLATE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

enum template_deed {
    TEMPLATE_CREATED, /* of an account */
    TEMPLATE_EDITED,  /* of an approved template */
    TEMPLATE_DELETED, /* of a name that was approved */
    TEMPLATE_PAUSED,  /* of a template, for its quality */
};

/* Records the deed of what `owner` and `name` name; "": nothing else names it. */
void template_quota_add(enum template_deed deed, const char *owner, const char *name);

/* Returns how often it was done within its time: an hour for TEMPLATE_CREATED, else 30 days. */
size_t template_quota_count(enum template_deed deed, const char *owner, const char *name);

/* Whether the setting templateQuotas is on, and an approved template with this id was edited within
 * 24 hours, or 10 times in 30 days. */
bool template_quota_forbids_edit(const char *id);

/* Forgets all deeds. */
void template_quota_clear(void);

#endif
