/* The calls below /_sandbox/: what no client of the platform can do. */
#ifndef SANDBOX_CONTROL_H
#define SANDBOX_CONTROL_H

#include "exchange.h"

/* Answers a control call. */
void control_answer(struct exchange *exchange);

/* Prints the table of calls. */
void control_help(void);

/* Loads a fixtures text. NULL, or a sentence the caller frees. Takes the state lock. */
char *control_load(struct slice text);

/* Forgets everything: state, records, faults. Takes the state lock. */
void control_clear(void);

#endif
