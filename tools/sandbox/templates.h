/* GET /{waba-id}/message_templates, GET /{template-id}, and the templates that sends use. All calls
 * are made under the state lock. */
#ifndef SANDBOX_TEMPLATES_H
#define SANDBOX_TEMPLATES_H

#include "collection.h"

extern struct collection templates;

void template_list(struct exchange *exchange, const struct account *account);
void template_show(struct exchange *exchange, const char *id);
const struct account *template_owner(const char *id);

/* An account's template by name and language; NULL when there is none. */
const struct item *template_find(const struct account *account, const char *name,
                                 const char *language);

/* Appends the i-th generated template, for collection_put. */
void template_make(struct bytes *out, const char *prefix, uint64_t i);

#endif
