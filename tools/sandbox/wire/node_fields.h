/* The choice of fields of a node: `fields=a,b{c,d},e.limit(2){f}` of a query. A node is printed
 * whole first; the choice selects among its members. */
#ifndef SANDBOX_NODE_FIELDS_H
#define SANDBOX_NODE_FIELDS_H

#include "wire/exchange.h"

struct node_shape;

/* A member whose objects are nodes of another type. */
struct node_member {
    const char *name;
    const struct node_shape *shape;
};

struct node_shape {
    const char *type;                  /* the platform's name of the type, for errors */
    const char *standard;              /* what is printed without a choice: names with commas
                                        * between them; NULL: everything */
    const char *known;                 /* further names, of members that may be absent; or NULL */
    const struct node_member *members; /* ended by a NULL name; NULL: there are none */
    bool without_id;                   /* no id is added to a choice that lacks it */
};

/* Returns the choice of fields in the query of the request, or the empty slice. */
struct slice fields_chosen(const struct exchange *exchange);

/* Appends `whole`, a JSON object, to the answer with the members of `choice` in its order and its
 * id after them; with an empty choice the standard members. Returns false after answering with the
 * error for a name that is not known or a choice that is not well formed. */
bool fields_print(struct exchange *exchange, struct slice whole, const struct node_shape *shape,
                  struct slice choice);

/* Whether the choice in the query has field `name` with the modifier `modifier`, such as
 * invalidate(true). */
bool fields_modified(const struct exchange *exchange, const char *name, const char *modifier);

#endif
