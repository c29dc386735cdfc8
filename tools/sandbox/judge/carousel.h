/* Interactive carousels: of products, or of media with buttons. */
#ifndef SANDBOX_CAROUSEL_H
#define SANDBOX_CAROUSEL_H

#include "judge/sending.h"

/* Returns the rules and the check for a carousel: its first card decides which one it is. */
const struct message_type *carousel_kind(const cJSON *interactive);

#endif
