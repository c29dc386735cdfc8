/* The file of a message, which the platform has. */
#ifndef SWITCHBOARD_ATTACHMENT_H
#define SWITCHBOARD_ATTACHMENT_H

#include "base/json.h"

/* The platform's id of the file, in the arena; NULL: the message has none, or is sent by a link.
 * The file of a template or an interactive message is that of its header; those of the cards of a
 * carousel are none. `body`: a message as JSON, of either direction. */
const char *attachment_id(struct arena *arena, struct slice body);

/* Sets `*ids` to the ids of all files that the message names, those of cards too, and returns their
 * number. */
size_t attachment_ids(struct arena *arena, struct slice body, const char *const **ids);

#endif
