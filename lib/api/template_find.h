/* Finds a template of an account by its name and language, as the platform lists it. */
#ifndef SWITCHBOARD_TEMPLATE_FIND_H
#define SWITCHBOARD_TEMPLATE_FIND_H

#include "api/state.h"

/* Returns the platform's id of the account's template of this name and language, in the request's
 * memory. With `language` empty the name must have one language. NULL after failing the request:
 * 404 when there is no such template, 409 with `details.languages` when the name has several
 * languages and none is given, and as the platform's list fails (spec 7). */
const char *template_find_id(struct request *rq, const struct store_account *account,
                             struct slice name, struct slice language);

/* Finds the account's template of this name and language, with the members `fields`, which have
 * name and language; with `language` empty one of those of the name. Returns 0, or -1 after failing
 * the request as template_find_id does. */
int template_find(struct request *rq, const struct store_account *account, struct slice name,
                  struct slice language, const char *fields, struct json *template);

#endif
