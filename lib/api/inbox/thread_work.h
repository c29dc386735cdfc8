/* The work of members on a thread: who takes care of it, that one writes an answer, and its notes.
 * The handlers of /v2/threads/:threadId/assignee, .../typing, .../notes and of /v2/notes/:noteId.
 */
#ifndef SWITCHBOARD_API_INBOX_THREAD_WORK_H
#define SWITCHBOARD_API_INBOX_THREAD_WORK_H

#include "api/state.h"

extern const struct field assignments_fields[], notes_query[], notes_fields[];

int assignments_put(struct request *rq);
int typing_notices_put(struct request *rq);
int notes_get(struct request *rq);
int notes_post(struct request *rq);
int notes_delete(struct request *rq);

/* Fails a request about a thread: with 404 for STORE_NOT_FOUND, else as state_fail. Returns -1. */
int thread_fail(struct request *rq, enum store_result result);

#endif
