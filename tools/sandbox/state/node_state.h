/* What the edges of a node keep: one JSON object for each kind of state and each node, such as the
 * business profile of a number. It is made by the first change and deleted by a reset. All calls
 * are made under the lock of the state, those that change it under the write lock. */
#ifndef SANDBOX_NODE_STATE_H
#define SANDBOX_NODE_STATE_H

#include <cjson/cJSON.h>

#include "base/buffer.h"
#include "state/collection.h"

/* The largest object of a state, in bytes. */
enum { NODE_STATE_MAX = 64 << 10 };

/* All of them. */
extern struct collection node_states;

/* Returns the object of this kind of the node `id`, which the caller ends with cJSON_Delete; when
 * nothing is kept the object in the JSON text `initial`. */
cJSON *node_state_read(const char *kind, const char *id, const char *initial);

/* Keeps the object. Returns false when it is larger than NODE_STATE_MAX; then nothing changed. */
bool node_state_write(const char *kind, const char *id, const cJSON *object);

/* Deletes what is kept of this kind of the node. */
void node_state_delete(const char *kind, const char *id);

/* Appends all that is kept of the node as a JSON object of its kinds. */
void node_state_print(struct buffer *out, const char *id);

/* Deletes what is kept of all nodes. */
void node_state_clear(void);

#endif
