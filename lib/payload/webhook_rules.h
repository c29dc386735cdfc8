/* What the settings of a webhook may be: shared by the API and the admin CLI. */
#ifndef SWITCHBOARD_WEBHOOK_RULES_H
#define SWITCHBOARD_WEBHOOK_RULES_H

#include "web/field.h"

enum { WEBHOOK_LINES_MOST = 1000, WEBHOOK_FIELDS_MOST = 100 };

/* The values of `kind`; ends with NULL. */
extern const char *const webhook_kinds[];

/* The types of events that a webhook can select; ends with NULL. */
extern const char *const webhook_event_types[];
extern const struct vocabulary webhook_event_vocabulary;

/* A field of the platform's changes, such as `messages`; or `*`, which stands for all. */
extern const struct text_rule webhook_field_rule;

#define WEBHOOK_ALL_FIELDS "*"

/* What a webhook can select of the platform's messages, statuses and echoes; ends with NULL. */
extern const char *const webhook_updates[];

/* The label, and the secret that signs. */
extern const struct text_rule webhook_name_rule, webhook_code_rule;

/* Returns a new code, 64 hexadecimal characters, in `arena`; a NUL byte follows it. */
struct slice webhook_code_make(struct arena *arena);

/* Whether two items of the list are equal: returns the index of the second one, or `count`. */
size_t webhook_find_duplicate(const char *const *items, size_t count);

#endif
