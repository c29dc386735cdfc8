/* Authentication of the caller, and the lines that the caller may use (spec 5). */
#ifndef SWITCHBOARD_AUTH_H
#define SWITCHBOARD_AUTH_H

#include "api/state.h"
#include "store/actor.h"
#include "store/line.h"

/* The authenticated caller of a protected route: by the API token, or by the session of the
 * dashboard (session_cookie.h). A request with a token and a session is one with a token. */
struct caller {
    struct store *store;
    struct store_user user;
    struct store_session session; /* with its member; id NULL: the caller has sent a token */
    struct store_view view;       /* what the caller sees of the user */
    unsigned scopes;              /* what the caller may do: a set of enum scope */
    int64_t expires_at;           /* of a scoped token; INT64_MAX: it does not end */
    struct actor actor;           /* who the caller is */
    struct line line;             /* set by auth_choose_line, and so by line_guard */
};

/* The guard of a protected route: checks token or session, linked account and plan (spec 5.5). */
extern const struct guard caller_guard;

/* The guard of a protected route that sends through a line: also checks that `phoneNumberId` of the
 * JSON body names a line of one of the caller's accounts (spec 5.6). The table of the route's body
 * must have LINE_FIELD. */
extern const struct guard line_guard;

/* The guard of a route that shows the state of the account: token or session; with a session,
 * account and plan are not checked, so that the dashboard can say what is missing. */
extern const struct guard overview_guard;

/* The guard of a route of the session itself: a token does not count, and account and plan are not
 * checked. */
extern const struct guard session_guard;

/* The same for a route that changes who may do what: the login, or the last confirmation by
 * POST /v2/session/confirm, is at most 10 minutes old. */
extern const struct guard fresh_guard;
bool auth_is_fresh(const struct request *rq);

/* The token of `Authorization: Bearer TOKEN`, or of `Authorization: OAuth TOKEN` if that is taken;
 * n == 0: there is none. The scheme is not case sensitive (RFC 9110 11.1). */
struct slice auth_header_token(bool takes_oauth);

/* Checks an API token that does not stand where find_token of the guards looks: user, linked
 * account, plan and scope of the route, as caller_guard. Sets rq->caller. Returns 0, or -1 after
 * failing the request. */
int auth_check_token(struct request *rq, struct slice token);

/* The scopes of a session: those of the role, or SCOPE_SELF while the member lacks the second
 * factor that the workspace requires. */
unsigned auth_session_scopes(const struct store_session *session);

/* Finds user, scopes, end and actor of an API token, main or scoped, with caller->store.
 * STORE_NOT_FOUND: there is none. The caller compares expires_at with the time of the request. */
enum store_result auth_find_token(struct arena *arena, struct caller *caller, struct slice token);

/* Checks that the caller has this scope. The guards call it last, with the scope of the route; the
 * handler of a route whose scope depends on the request (SCOPE_BY_EDGE) calls it itself. Returns 0,
 * or -1 after failing the request with 403 and `details.required`. */
int auth_check_scope(struct request *rq, unsigned scope);

#define LINE_FIELD                                                                                 \
    { .name = "phoneNumberId", .type = FIELD_STRING, .required = true }

/* Finds the caller's line with this phone number id and sets caller->line. Returns 0, or -1 after
 * failing the request: 403 when the line is archived or belongs to another user. */
int auth_choose_line(struct request *rq, const char *phone_number_id);

/* Fails the request with 403 because phoneNumberId is none of the caller's. Returns -1. */
int auth_fail_line(struct request *rq);

/* Lists the caller's accounts, of some lines those that have one of these, in the request's memory.
 * Returns 0, or -1 after failing the request.
 */
int auth_list_accounts(struct request *rq, struct store_account **accounts, size_t *count);

#endif
