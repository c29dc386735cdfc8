/* The notes of a thread: the handlers of /v2/threads/:threadId/notes and /v2/notes/:noteId. */
#ifndef SWITCHBOARD_API_INBOX_NOTES_H
#define SWITCHBOARD_API_INBOX_NOTES_H

#include "web/request.h"

extern const struct field notes_query[], notes_fields[];

int notes_get(struct request *rq);
int notes_post(struct request *rq);
int notes_delete(struct request *rq);

#endif
