/* The control calls below /_sandbox/: their dispatch and their description. */
#ifndef SANDBOX_CONTROL_H
#define SANDBOX_CONTROL_H

#include "wire/exchange.h"

/* Answers a control call, or holds the connection until its job answers it (STAGE_WAITING). */
void control_answer(struct exchange *exchange);

/* Prints the table of calls, for --help. */
void control_help(void);

#endif
