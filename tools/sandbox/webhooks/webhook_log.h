/* The list of the last posts, with their attempts (control call GET webhooks). */
#ifndef SANDBOX_WEBHOOK_LOG_H
#define SANDBOX_WEBHOOK_LOG_H

#include "webhooks/webhook_post.h"

/* Adds finished posts to the list. `arena` takes temporary texts. */
void webhook_log(struct arena *arena, const struct post *posts, size_t count);

/* Appends the list as a JSON array, oldest first. */
void webhook_log_list(struct buffer *out);

/* Empties the list. */
void webhook_log_clear(void);

#endif
