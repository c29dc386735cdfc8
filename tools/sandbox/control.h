/* The control calls below /_sandbox/, which the real platform does not have. */
#ifndef SANDBOX_CONTROL_H
#define SANDBOX_CONTROL_H

#include "exchange.h"

/* Answers a control call. */
void control_answer(struct exchange *exchange);

/* Prints the table of calls. */
void control_help(void);

/* Loads a fixtures text. Returns NULL, or an error text that the caller frees. Takes the state
 * lock. */
char *control_load(struct slice text);

/* Deletes state, records and faults. Takes the state lock. */
void control_clear(void);

#endif
