/* The control calls below /_sandbox/: their dispatch and their description. */
#ifndef SANDBOX_CONTROL_H
#define SANDBOX_CONTROL_H

#include "base/process/manual.h"
#include "wire/exchange.h"

/* Answers a control call, or holds the connection until its job answers it (STAGE_WAITING). */
void control_answer(struct exchange *exchange);

/* Returns the items of a manual page, in `arena`: the first ones, `count` of them, and all calls.
 */
const struct manual_item *control_items(struct arena *arena, const struct manual_item *first,
                                        size_t count);

/* Prints all calls as a part of doc/sandbox.md. */
void control_print_page(void);

#endif
