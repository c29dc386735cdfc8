/* The search for the object that a request names. */
#ifndef SANDBOX_TARGET_FIND_H
#define SANDBOX_TARGET_FIND_H

#include "state/graph_target.h"

/* Finds the object with this id for a caller with this token. An object of an account with another
 * token counts as unknown: NODE_NONE. Called under the lock of the state. */
struct target target_find(const char *id, const char *token);

/* Returns the platform's name of the type of a node, "" for NODE_NONE. */
const char *target_type(enum node node);

#endif
