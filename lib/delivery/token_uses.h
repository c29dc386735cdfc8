/* The last uses of scoped tokens, which programs without the right to write the database note in
 * the file of the last requests (base/request_log.h). Each courier writes those of its host into
 * the database, once an hour and token at most. */
#ifndef SWITCHBOARD_TOKEN_USES_H
#define SWITCHBOARD_TOKEN_USES_H

#include "base/config.h"
#include "store/store.h"

/* Maps the file, before the process is confined; logs why it cannot be used. */
void token_uses_open(const struct config *config);

/* Writes those that the database may lack, until the monotonic time `end`: then the others are
 * written by the next call. A time after `now` counts as `now`. */
enum store_result token_uses_store(struct store *store, int64_t now, int64_t end);

#endif
