/* The object that a request names by the id in its path, and the edges of each type of object. */
#ifndef SANDBOX_GRAPH_TARGET_H
#define SANDBOX_GRAPH_TARGET_H

#include "account.h"
#include "exchange.h"

enum node { NODE_NONE, NODE_ME, NODE_WABA, NODE_PHONE, NODE_MEDIA, NODE_FLOW, NODE_TEMPLATE };

struct target {
    enum node node;
    const char *id;
    const struct account *account; /* its owner; NULL for NODE_ME and NODE_NONE */
    const struct phone *phone;     /* of NODE_PHONE */
};

/* Finds the object with this id for a caller with this token. An object of an account with another
 * token counts as unknown: NODE_NONE. Called under the lock of the state. */
struct target target_find(const char *id, const char *token);

/* Returns the platform's name of the type of a node, "" for NODE_NONE. */
const char *target_type(enum node node);

/* What a method does with a node (edge "") or with one of its edges. */
struct edge {
    const char *method;
    enum node node;
    const char *name;
    void (*answer)(struct exchange *exchange, const struct target *target);
};

#endif
