/* The state of the platform as a text: an object {settings, accounts, tokens, numbers, media,
 * templates, flows}, each member a list of bodies for the control call of that name,
 * {templateUses}, the messages with templates, and {flowJson, nodes, blockedUsers, qrCodes}, what
 * clients have kept at objects. */
#ifndef SANDBOX_FIXTURES_H
#define SANDBOX_FIXTURES_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/buffer.h"

/* Sets the path of a fixtures file that is loaded after the built-in state; NULL: none. The path is
 * not copied. */
void fixtures_file(const char *path);

/* Loads the built-in state and the fixtures file. Returns false after a message on stderr. Takes
 * the lock of the state. */
bool fixtures_start(void);

/* Adds a body, as JSON and as bytes, to the state that has the name of such a member. Returns NULL,
 * or in `arena` the text of an error. Called under the write lock of the state. */
const char *fixtures_put(struct arena *arena, const char *name, const cJSON *json,
                         struct slice body);

/* Appends the whole state as such a text, without upload sessions. Called under the lock of the
 * state.
 */
void fixtures_print(struct buffer *out);

/* Replaces the state by that of the text. Returns NULL, or in `arena` the text of an error; then
 * the state is what it was. Called under the write lock of the state. */
const char *fixtures_replace(struct arena *arena, struct slice text);

/* Deletes what clients changed at edges: profiles, settings, registrations, callbacks, blocked
 * users, QR codes, upload sessions. Called under the write lock of the state. */
void edges_clear(void);

/* Empties the state and restores the settings of the command line. Takes the lock of the state. */
void fixtures_clear(void);

#endif
