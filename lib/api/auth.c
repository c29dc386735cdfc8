#include "api/auth.h"

#include "api/session_cookie.h"
#include "base/crypto.h"

/* The token of `Authorization: Bearer TOKEN`; empty when there is none. The scheme is not case
 * sensitive (RFC 9110 11.1). */
static struct slice bearer_token(const char *authorization) {
    struct slice rest = slice_trim(slice_of(authorization));
    if (rest.n < 7 || strncasecmp(rest.p, "Bearer", 6) != 0 ||
        (rest.p[6] != ' ' && rest.p[6] != '\t'))
        return (struct slice){NULL, 0};
    return slice_trim(slice_skip(rest, 7));
}

/* Sets *token to the token of the request, from either header; p == NULL when there is none.
 * Returns 0, or -1 after failing the request. */
static int find_token(struct request *rq, struct slice *token) {
    struct slice bearer = bearer_token(request_variable("HTTP_AUTHORIZATION"));
    struct slice plain = slice_trim(slice_of(request_variable("HTTP_X_API_TOKEN")));
    if (bearer.n && plain.n && !crypto_equal(bearer, plain))
        return fail(
            rq, UNAUTHORIZED,
            "Authorization and X-API-Token hold different tokens; send the token in one of them.");
    *token = bearer.n ? bearer : plain;
    if (!token->n)
        token->p = NULL;
    return 0;
}

static int fail_without(struct request *rq) {
    if (rq->route->guard->requires & REQUIRES_SESSION)
        return fail_with_details(rq, UNAUTHORIZED,
                                 SLICE("{\"hint\":\"Log in by POST /v2/session; " SESSION_RULE
                                       ". An API token does not count here.\"}"),
                                 "Missing session");
    return fail_with_details(
        rq, UNAUTHORIZED,
        SLICE("{\"hint\":\"Send the token as the header Authorization: Bearer API_TOKEN, or as the "
              "header X-API-Token: API_TOKEN; " SESSION_RULE ".\"}"),
        "Missing API token");
}

/* Finds the user of the token or of the session. */
static enum store_result find_user(struct request *rq, struct caller *caller, struct slice token,
                                   struct slice cookie) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256(token.p ? token : cookie, hash);
    return token.p ? store_authenticate(caller->store, rq->arena, hash, &caller->user)
                   : store_authenticate_session(caller->store, rq->arena, hash, rq->now,
                                                &caller->user, &caller->session);
}

/* Sets rq->caller to the user of the token, or without one, of the session. */
static int set_caller(struct request *rq, struct slice token, struct slice cookie) {
    struct caller *caller = arena_alloc(rq->arena, sizeof *caller);
    if (!(caller->store = state_store(rq, INTERNAL)))
        return -1;
    state_hold_view(rq);
    enum store_result result = find_user(rq, caller, token, cookie);
    rq->has_session = !token.p;
    if (result == STORE_NOT_FOUND)
        return fail(rq, UNAUTHORIZED,
                    token.p ? "Invalid API token" : "The session has ended; log in again.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (rq->has_session && session_is_of_other(caller->user.id))
        return fail(rq, UNAUTHORIZED,
                    "Another user has logged in in this browser since the page was loaded; reload "
                    "the page.");
    if (!rq->caller) {
        json_write_text(&rq->log, "user", caller->user.id);
        if (caller->session.id)
            json_write_text(&rq->log, "session", caller->session.id);
    }
    rq->caller = caller;
    rq->user_id = caller->user.id;
    return 0;
}

static int check_plan(struct request *rq, const struct store_user *user) {
    if (user->plan_ends_at <= rq->now)
        return fail(rq, PLAN_EXPIRED, "The plan has ended; renew it to go on.");
    if (!user->plan_name ||
        (strcmp(user->plan_name, "Premium") != 0 && strcmp(user->plan_name, "Enterprise") != 0))
        return fail(rq, PLAN_REQUIRED, "The API needs a Premium or Enterprise plan.");
    return 0;
}

static int check_caller(struct request *rq) {
    struct slice token, cookie = {NULL, 0};
    if (find_token(rq, &token))
        return -1;
    if (!token.p)
        cookie = session_cookie(rq);
    if (rq->route->guard->requires & REQUIRES_SESSION ? !cookie.p : !token.p && !cookie.p)
        return fail_without(rq);
    return set_caller(rq, token, cookie);
}

static int check_user(struct request *rq) {
    if (!rq->caller->user.has_valid_account)
        return fail(rq, NOT_FOUND,
                    "No messaging account with a valid platform access token is linked.");
    return check_plan(rq, &rq->caller->user);
}

static int check_account(struct request *rq) {
    return check_caller(rq) || check_user(rq) ? -1 : 0;
}

int auth_check_token(struct request *rq, struct slice token) {
    return set_caller(rq, token, (struct slice){NULL, 0}) || check_user(rq) ? -1 : 0;
}

static int check_overview(struct request *rq) {
    struct slice token;
    return find_token(rq, &token) || token.p ? check_account(rq) : check_caller(rq);
}

int auth_choose_line(struct request *rq, const char *phone_number_id) {
    struct caller *caller = rq->caller;
    enum store_result result =
        store_find_line(caller->store, rq->arena, caller->user.id, phone_number_id, &caller->line);
    if (result == STORE_NOT_FOUND)
        return fail(rq, FORBIDDEN,
                    "phoneNumberId does not belong to a line of this account; see GET /v2/me.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_text(&rq->log, "line", caller->line.id);
    return 0;
}

static int check_line(struct request *rq) {
    struct json value = json_get(rq->json, "phoneNumberId");
    static const struct field fields[] = {LINE_FIELD, {0}};
    struct issues issues;
    state_hold_view(rq);
    issues_start(&issues, rq->arena);
    field_check(fields, rq->json, "", &issues);
    if (fail_on_issues(rq, &issues))
        return -1;
    const char *id = json_text(value, rq->arena);
    return auth_choose_line(rq, id ? id : "");
}

const struct guard caller_guard = {.before_body = check_account, .requires = REQUIRES_EITHER};
const struct guard line_guard = {.before_body = check_account,
                                 .before_fields = check_line,
                                 .requires = REQUIRES_EITHER | REQUIRES_LINE};
const struct guard overview_guard = {.before_body = check_overview, .requires = REQUIRES_EITHER};
const struct guard session_guard = {.before_body = check_caller, .requires = REQUIRES_SESSION};
