/* Resumable uploads of files for templates and profiles: POST /{app}/uploads, then POST to the
 * session. The bytes are counted, not stored. All calls are made under the lock of the state, those
 * that change it under the write lock. */
#ifndef SANDBOX_UPLOAD_SESSION_H
#define SANDBOX_UPLOAD_SESSION_H

#include "state/graph_target.h"

/* Returns the account of the session with this id (`upload:...`), or NULL. */
const struct account *session_owner(const char *id);

/* Starts a session: file_length, file_type, file_name. */
void session_create(struct exchange *exchange, const struct target *target);

/* Answers with the position up to which a session has the file. */
void session_show(struct exchange *exchange, const struct target *target);

/* Adds the body to the file, at the position in the header file_offset; at its end answers with the
 * handle of the file. */
void session_feed(struct exchange *exchange, const struct target *target);

/* Deletes all sessions. */
void session_clear(void);

#endif
