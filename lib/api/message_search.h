/* The search of words in messages: GET /v2/messages and GET /v2/threads/:threadId/messages with
 * `q`. It compares the messages themselves, so that a part of a word is found in every language,
 * and needs no index. One search costs as much as a hundred lists: each user has one at a time on a
 * web host. */
#ifndef SWITCHBOARD_API_MESSAGE_SEARCH_H
#define SWITCHBOARD_API_MESSAGE_SEARCH_H

#include "store/inbox.h"
#include "web/request.h"

/* What `q` must be. */
extern const struct text_rule message_search_rule;

/* Opens the file of the locks (struct service, prepare). */
void message_search_prepare(struct request *rq);

/* Answers the request, whose query may have `q`, `limit` and `after`: with the messages of
 * the thread that have all words, or, with NULL, of all threads of the caller. Returns 0, or -1
 * after failing the request: 400 without a word or with a foreign cursor, 429 while another search
 * of the user runs. */
int message_search_answer(struct request *rq, const struct inbox_thread *thread);

#endif
