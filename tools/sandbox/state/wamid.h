/* Message ids in the platform's form. */
#ifndef SANDBOX_WAMID_H
#define SANDBOX_WAMID_H

#include "base/arena.h"

/* Returns a new message id in `arena`. `digits` are those of the chat's phone, at most 255, or ""
 * for the chat with a BSUID. */
const char *wamid_new(struct arena *arena, const char *digits);

#endif
