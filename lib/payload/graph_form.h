/* Forms in the platform's notation, as the JSON object that the platform makes of them. A name such
 * as `text[body]` is a member of a member, `buttons[0][title]` or `buttons[][title]` one of an item
 * of an array. A value that is a JSON object or array stands for that. */
#ifndef SWITCHBOARD_GRAPH_FORM_H
#define SWITCHBOARD_GRAPH_FORM_H

#include "base/json.h"

/* Whether a body of this Content-Type is a form; false for NULL. */
bool graph_form_is(const char *content_type);

/* Whether it is one of application/x-www-form-urlencoded. */
bool graph_form_is_urlencoded(const char *content_type);

/* Reads a form, application/x-www-form-urlencoded or multipart/form-data, into `*object`, whose
 * text is in `arena`. Returns 0, or -1 with `*error`, a static sentence for the client: the form is
 * malformed, has more than 100 fields, a name of more than 16 parts, a file, or text that is not
 * UTF-8 or holds NUL. */
int graph_form_read(struct arena *arena, const char *content_type, struct slice body,
                    struct json *object, const char **error);

#endif
