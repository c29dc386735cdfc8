/* The file that this process executes. */
#ifndef SWITCHBOARD_EXECUTABLE_H
#define SWITCHBOARD_EXECUTABLE_H

#include <stdbool.h>

/* Opens the file, for executable_was_replaced. Call it once, before the confinement. */
void executable_open(void);

/* Whether the file was deleted or replaced since executable_open. */
bool executable_was_replaced(void);

#endif
