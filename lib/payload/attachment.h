/* The file of a message, which the platform has. */
#ifndef SWITCHBOARD_ATTACHMENT_H
#define SWITCHBOARD_ATTACHMENT_H

#include "base/json.h"

/* The platform's id of the file, in the arena; NULL: the message has none, or is sent by a link.
 * `body`: a message as JSON, of either direction. */
const char *attachment_id(struct arena *arena, struct slice body);

#endif
