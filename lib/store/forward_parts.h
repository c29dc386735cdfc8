/* The text of a recipe (forward.h): how a body is made of a POST. It is a list of pieces without
 * separators:
 *
 *     OFFSET+LENGTH,    that many bytes of the POST, unchanged
 *     LENGTH:BYTES      those bytes
 */
#ifndef SWITCHBOARD_STORE_FORWARD_PARTS_H
#define SWITCHBOARD_STORE_FORWARD_PARTS_H

#include "base/buffer.h"

/* Appends a piece to a recipe. `kept` is a part of `post`. */
void forward_add_kept(struct buffer *recipe, struct slice post, struct slice kept);
void forward_add_text(struct buffer *recipe, struct slice text);

/* Makes the body, in `arena`; p == NULL: `parts` is not a recipe for this POST. `parts` NULL: the
 * whole POST, which is not copied. */
struct slice forward_assemble(struct arena *arena, struct slice post, const char *parts);

#endif
