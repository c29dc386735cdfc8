/* The session of a request: its cookie, and the headers without which the cookie does not count. A
 * browser adds the cookie to every request to the gateway, also to those that a page of another
 * site makes; only the gateway's own page can add these headers. And new sessions. */
#ifndef SWITCHBOARD_SESSION_COOKIE_H
#define SWITCHBOARD_SESSION_COOKIE_H

#include "store/logins.h"
#include "web/request.h"

#define SESSION_COOKIE "__Host-switchboard"

/* The cookie by which a browser is known in which the member has logged in (logins.h). It gives no
 * rights. */
#define DEVICE_COOKIE "__Host-switchboard-device"

/* The cookie of a login whose second factor is missing. It gives no rights. */
#define PENDING_COOKIE "__Host-switchboard-login"

/* What a request with a session needs, for the message of a 401. */
#define SESSION_RULE                                                                               \
    "the cookie of a session counts only together with the headers X-Switchboard: 1 and "          \
    "Sec-Fetch-Site: same-origin"

/* Returns the value of the session's cookie if it counts: the request has one such cookie, the
 * header `X-Switchboard: 1`, and `Sec-Fetch-Site: same-origin`; or, without Sec-Fetch-Site, an
 * Origin that is the gateway's own. Else p == NULL. Nothing is known about the session itself. */
struct slice session_cookie(const struct request *rq);

/* The same for the cookie of a login that waits for the second factor. */
struct slice pending_cookie(const struct request *rq);

/* Returns the value of the browser's cookie; p == NULL: the request has none, or more than one. */
struct slice device_cookie(void);

/* Whether the request comes from a page that shows another member (X-Switchboard-Member): after a
 * login as another one in another tab, a page would act for that one. */
bool session_is_of_other(const char *member_id);

/* The workspace that the page shows (X-Switchboard-Workspace): tabs may show several; NULL: the one
 * of the session. */
const char *session_workspace(void);

/* Whether the browser says that a page of another origin made the request. A request without the
 * headers of a browser is not from another page. */
bool session_is_foreign(const struct request *rq);

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
