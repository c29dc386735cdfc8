/* Forwarding: what store_ingest (ingest.h) needs to know of a whole POST of the platform, so that
 * webhooks of the kind forward get it. The platform's JSON is read above the store
 * (payload/forward_body.h), which provides `make`. */
#ifndef SWITCHBOARD_STORE_FORWARD_H
#define SWITCHBOARD_STORE_FORWARD_H

#include "store/store.h"

/* What an entry, or a change of it, is about. */
struct forward_place {
    const char *waba_id;         /* entry[].id */
    const char *phone_number_id; /* of the change; NULL: it names no line, or the entry itself */
};

/* What one user's webhook gets of a POST. Words are separated by one space. */
struct forward_selection {
    const char *const *waba_ids; /* entry[].id: the user's accounts; other entries are left out */
    size_t waba_id_count;
    bool all_lines; /* else only changes about these lines, and those that name no line */
    const char *const *phone_number_ids;
    size_t phone_number_count;
    const struct forward_place *excluded; /* changes that are never forwarded: those of archived
                                             lines, and of lines of other accounts */
    size_t excluded_count;
    const char *fields;  /* changes[].field; NULL: messages; "*": all */
    const char *updates; /* what is kept of messages, statuses and echoes; NULL: all. A change that
                            has some of them and of which none are kept is left out */
    bool splits_messages;
};

/* One body to deliver. Strings are in the arena that was passed to the maker. */
struct forward_recipe {
    const char *parts;     /* how the body is made of the POST (forward_parts.h); NULL: all of it */
    const char *order_key; /* 'PHONE_NUMBER_ID:FROM'; orders first attempts; NULL: none */
};

/* Makes the recipes of all bodies that the selection leads to; none: `*count` is 0. */
typedef void forward_maker(void *context, struct arena *arena,
                           const struct forward_selection *selection,
                           struct forward_recipe **recipes, size_t *count);

/* The whole POST. */
struct store_post {
    struct slice body;
    const struct forward_place *places; /* all that it is about, at least once */
    size_t place_count;
    void *context; /* for `make`: the POST that was read */
    forward_maker *make;
};

#endif
