/* The state of the platform as a text: an object {accounts, tokens, numbers, media, templates,
 * flows, settings}, each member a list of bodies for the control call of that name. */
#ifndef SANDBOX_FIXTURES_H
#define SANDBOX_FIXTURES_H

#include "base/arena.h"

/* Adds a fixtures text to the state. Returns NULL, or in `arena` the text of an error; what stands
 * before the wrong body is loaded then. Takes the lock of the state. */
const char *fixtures_load(struct arena *arena, struct slice text);

/* Deletes what clients changed at edges: profiles, settings, registrations, callbacks, blocked
 * users, QR codes, upload sessions. Called under the write lock of the state. */
void edges_clear(void);

/* Empties the state and restores the settings of the command line. Takes the lock of the state. */
void fixtures_clear(void);

#endif
