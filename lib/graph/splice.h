/* Replaces the links in the platform's answers that a client of this gateway cannot use. All other
 * bytes of the answers stay as they are. */
#ifndef SWITCHBOARD_GRAPH_SPLICE_H
#define SWITCHBOARD_GRAPH_SPLICE_H

#include "base/json.h"

/* --- links: the raw text of a JSON string, between its quotes, that holds a URL. `/` may be
 * written
 * \/ there, and any character as \uXXXX --- */

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

/* Returns the answer with changed links to other pages, in `arena`: `next` and `previous` of each
 * object `paging` that is a member of the answer itself, and of each deeper one whose link has a
 * parameter access_token, as lists within a node have it. */
struct slice splice_paging(struct arena *arena, struct json answer,
                           const struct link_change *change);

/* Returns the media object with `url` as its URL, in `arena`; `url` has only characters of a URL.
 * Objects within it keep theirs. */
struct slice splice_media_url(struct arena *arena, struct json media, const char *url);

/* --- members --- */

/* Members whose values are replaced, at any depth. */
struct member_change {
    const char *const *names; /* ends with NULL */
    const char *added;        /* one of them that each node without it gets: the answer itself, or
                                 the items of its `data`; NULL: none is added */

    /* Returns the new value of the member `name` of an object, as JSON. */
    struct slice (*make)(void *context, struct json object, const char *name);
    void *context;
};

/* Whether the answer has one of the members, or may get one. */
bool splice_has_members(struct json answer, const struct member_change *change);

/* Returns the answer with the new values, in `arena`. */
struct slice splice_members(struct arena *arena, struct json answer,
                            const struct member_change *change);

#endif
