/* New sessions, and their cookies. */
#ifndef SWITCHBOARD_SESSION_START_H
#define SWITCHBOARD_SESSION_START_H

#include "store/logins.h"
#include "web/request.h"

/* Returns a new session of the member, in the request's memory, and the value of its cookie, of
 * which only the hash is stored. */
struct store_new_session session_make(struct request *rq, const char *member_id,
                                      const char **value);

/* Makes the session one of a login in this browser, and ends the one that it replaces there.
 * Returns the value of the browser's cookie. */
const char *session_join_browser(struct request *rq, struct store_new_session *session);

/* Set the cookies: of the session, without a lifetime, so that the browser drops it when it ends;
 * of the browser; of a login that waits for the second factor. */
void session_set_cookie(struct request *rq, const char *value);
void session_set_device_cookie(struct request *rq, const char *value);
void session_set_pending_cookie(struct request *rq, const char *value);
void session_clear_cookie(struct request *rq);
void session_clear_pending_cookie(struct request *rq);

#endif
