/* Links in the platform's answers: the raw text of a JSON string, between its quotes, that holds a
 * URL. `/` may be written \/ there, and any character as \uXXXX. */
#ifndef SWITCHBOARD_GRAPH_LINK_H
#define SWITCHBOARD_GRAPH_LINK_H

#include "base/buffer.h"

/* How to change a link. Parameters named access_token, which hold the platform access token, are
 * always removed. */
struct link_change {
    const char *base;  /* replaces scheme, host and a version such as /v26.0 of an absolute link; in
                          the characters of a URL, without a slash at its end. NULL: they stay */
    const char *token; /* the value of a new last parameter access_token, percent-encoded; NULL:
                          none is added */
};

/* Adds the changed link to `out`; the bytes that do not change stay as they are. */
void link_add(struct buffer *out, struct slice link, const struct link_change *change);

/* Whether the link has a parameter access_token. */
bool link_has_token(struct slice link);

#endif
