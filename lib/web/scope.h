/* The scopes: what a caller may do. Each route that requires a caller has one in its row, and each
 * caller has a set of them; one that lacks the scope of the route is refused (auth.h). */
#ifndef SWITCHBOARD_SCOPE_H
#define SWITCHBOARD_SCOPE_H

#include "base/arena.h"
#include "base/slice.h"

enum scope {
    SCOPE_BASIC = 1,   /* account, lines, templates, forms, figures of use */
    SCOPE_READ = 2,    /* contacts, threads, messages, files, answers to forms */
    SCOPE_SEND = 4,    /* sends and uploads */
    SCOPE_INBOX = 8,   /* read marks, done marks, blocks */
    SCOPE_EVENTS = 16, /* webhooks without their codes, events, replays, the last requests */
    SCOPE_MANAGE = 32, /* changes of lines, webhooks and what the platform keeps of the account */
    SCOPE_TEAM = 64,   /* those who use the account: a session only */
    SCOPE_OWNER = 128, /* the main token: a session only */
    SCOPE_SELF = 256,  /* the member's own sessions and password: a session only */

    SCOPES_OF_MAIN_TOKEN =
        SCOPE_BASIC | SCOPE_READ | SCOPE_SEND | SCOPE_INBOX | SCOPE_EVENTS | SCOPE_MANAGE,

    /* which a caller with a part of the lines or threads cannot have: they are about all */
    SCOPES_OF_ALL_LINES = SCOPE_EVENTS | SCOPE_MANAGE,

    /* of the roles of members (store/member.h) */
    SCOPES_OF_VIEWER = SCOPE_BASIC | SCOPE_READ | SCOPE_SELF,
    SCOPES_OF_AGENT = SCOPES_OF_VIEWER | SCOPE_SEND | SCOPE_INBOX,
    SCOPES_OF_ADMIN = SCOPES_OF_AGENT | SCOPE_EVENTS | SCOPE_MANAGE | SCOPE_TEAM,
    SCOPES_OF_OWNER = SCOPES_OF_ADMIN | SCOPE_OWNER,

    /* of rows alone: */
    SCOPE_BY_EDGE = 512, /* the handler checks the scope of the edge (graph_node.h) */
    SCOPE_NONE = 1024,   /* of an edge without a caller */
};

/* The scopes that a scoped token may have, each by its name; ends with NULL. */
extern const char *const scope_names[];

/* The set of the scopes of a token, which are words separated by spaces: those of scope_names.
 * Other words are ignored. */
unsigned scope_set(struct slice words);

/* The opposite: the words of the set in the order of scope_names, in the arena. */
const char *scope_words(struct arena *arena, unsigned scopes);

/* The name of one scope, as descriptions, answers and tokens write it; NULL: it is none. */
const char *scope_name(unsigned scope);

#endif
