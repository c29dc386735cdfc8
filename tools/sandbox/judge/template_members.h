/* Parts of the definition of a template: which members a button needs, and how variables are
 * written. */
#ifndef SANDBOX_TEMPLATE_MEMBERS_H
#define SANDBOX_TEMPLATE_MEMBERS_H

#include "wire/exchange.h"

/* Returns the name of the first member that a button of its type needs and this one lacks, in
 * static memory; NULL when there is none, and for a type that is not known here. */
const char *template_button_lacks(const cJSON *button);

/* Whether each `{{` of `text` (NULL: "") has a `}}`, and the variables between them are either the
 * numbers from 1 on without a gap, or names of lower-case letters, digits and `_` that begin with
 * no digit. */
bool template_variables_valid(const char *text);

/* Whether templates have components of this type. */
bool template_component_known(const char *type);

#endif
