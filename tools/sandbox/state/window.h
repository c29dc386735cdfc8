/* The customer service windows: which users wrote to which numbers, and when. Only to these users
 * the platform sends what is no template, for 24 hours, and only these can be blocked. A user is
 * named by the digits of a phone number or by a BSUID. They have a lock of their own, which each
 * call takes. */
#ifndef SANDBOX_WINDOW_H
#define SANDBOX_WINDOW_H

#include "text/json_fields.h"

/* Opens the window of the user at the number with this id: the user wrote at that time, in
 * milliseconds since 1970. Nothing is done when the user wrote later. */
void window_open(const char *line, const char *user, int64_t wrote_at);

/* Whether the user wrote in the last 24 hours, or the setting serviceWindow is off. Called under
 * the lock of the state. */
bool window_is_open(const char *line, const char *user);

/* Sets when a user wrote, also earlier than known: {phoneNumberId, user, wroteAt}; without wroteAt
 * now, with 0 never. Returns NULL, or in `arena` the text of an error. */
const char *window_put(struct arena *arena, const cJSON *json);

/* Appends all as bodies of window_put. */
void window_print(struct buffer *out);

/* Deletes all. */
void window_clear(void);

#endif
