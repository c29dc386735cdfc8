/* The types of messages and the rules of each, with the limits of the platform's documentation. */
#ifndef SANDBOX_MESSAGE_TYPES_H
#define SANDBOX_MESSAGE_TYPES_H

#include "judge/sending.h"

/* The table of types, ended by a NULL name. */
extern const struct message_type message_types[];

#endif
