#include "api/auth.h"

#include "api/request_trail.h"
#include "api/session_cookie.h"
#include "base/crypto.h"
#include "base/token.h"
#include "store/member.h"
#include "store/scoped_token.h"

enum { FRESH_MS = 10 * 60 * 1000 }; /* a login or a confirmation is fresh for so long */

struct slice auth_header_token(bool takes_oauth) {
    struct slice rest = slice_trim(slice_of(request_variable("HTTP_AUTHORIZATION")));
    struct slice scheme = {rest.p, 0};
    while (scheme.n < rest.n && rest.p[scheme.n] != ' ' && rest.p[scheme.n] != '\t')
        scheme.n++;
    if (slice_is_word(scheme, "Bearer") || (takes_oauth && slice_is_word(scheme, "OAuth")))
        return slice_trim(slice_skip(rest, scheme.n));
    return (struct slice){NULL, 0};
}

/* Sets *token to the token of the request, from either header; p == NULL when there is none.
 * Returns 0, or -1 after failing the request. */
static int find_token(struct request *rq, struct slice *token) {
    struct slice bearer = auth_header_token(false);
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

/* All scopes, or those that a caller with a part of the lines or threads may have. */
static unsigned scopes_of_part(bool is_part) {
    return is_part ? ~(unsigned)SCOPES_OF_ALL_LINES : ~0U;
}

/* Finds user, scopes and actor of a scoped token. */
static enum store_result find_scoped(struct arena *arena, struct caller *caller,
                                     const unsigned char hash[CRYPTO_HASH_SIZE]) {
    struct store_scoped_token token;
    enum store_result result =
        store_authenticate_scoped(caller->store, arena, hash, &caller->user, &token);
    if (result == STORE_OK) {
        caller->scopes = scope_set(slice_of(token.scopes)) & SCOPES_OF_MAIN_TOKEN;
        caller->view.line_ids = token.line_ids;
        caller->scopes &= scopes_of_part(token.line_ids);
        caller->expires_at = token.expires_at;
        caller->actor = (struct actor){.id = token.id, .name = token.name};
    }
    return result;
}

enum store_result auth_find_token(struct arena *arena, struct caller *caller, struct slice token) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256(token, hash);
    if (slice_starts(token, SLICE(TOKEN_SCOPED)))
        return find_scoped(arena, caller, hash);
    caller->scopes = SCOPES_OF_MAIN_TOKEN;
    caller->expires_at = INT64_MAX;
    caller->actor = (struct actor){.name = "token"};
    return store_authenticate(caller->store, arena, hash, &caller->user);
}

static unsigned scopes_of(const char *role) {
    static const unsigned scopes[] = {[ROLE_NONE] = 0,
                                      [ROLE_VIEWER] = SCOPES_OF_VIEWER,
                                      [ROLE_AGENT] = SCOPES_OF_AGENT,
                                      [ROLE_ADMIN] = SCOPES_OF_ADMIN,
                                      [ROLE_OWNER] = SCOPES_OF_OWNER};
    return scopes[role_find(role)];
}

/* A member without the factor that the workspace requires may only set it up. */
static bool lacks_factor(const struct store_session *session) {
    return session->requires_factor && !session->has_factor;
}

unsigned auth_session_scopes(const struct store_session *session) {
    const unsigned scopes =
        scopes_of(session->role) & scopes_of_part(session->line_ids || session->is_own_only);
    return lacks_factor(session) ? scopes & SCOPE_SELF : scopes;
}

/* Finds the user of the token or of the session. */
static enum store_result find_user(struct request *rq, struct caller *caller, struct slice token,
                                   struct slice cookie) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    if (token.p)
        return auth_find_token(rq->arena, caller, token);
    crypto_sha256(cookie, hash);
    enum store_result result =
        store_authenticate_session(caller->store, rq->arena, hash, session_workspace(), rq->now,
                                   &caller->user, &caller->session);
    if (result != STORE_OK)
        return result;
    caller->view.line_ids = caller->session.line_ids;
    caller->view.own_id = caller->session.is_own_only ? caller->session.member_id : NULL;
    caller->scopes = auth_session_scopes(&caller->session);
    caller->expires_at = INT64_MAX; /* the statement compares the end of the session */
    caller->actor =
        (struct actor){.id = caller->session.member_id, .name = caller->session.member_name};
    return result;
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
                    token.p               ? "Invalid API token"
                    : session_workspace() ? "The session has ended, or its member does not belong "
                                            "to this workspace any more; reload the page."
                                          : "The session has ended; log in again.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (caller->expires_at <= rq->now)
        return fail(rq, UNAUTHORIZED, "This API token has expired; use another one.");
    if (rq->has_session && session_is_of_other(caller->session.member_id))
        return fail(rq, UNAUTHORIZED,
                    "Another member has logged in in this browser since the page was loaded; "
                    "reload the page.");
    if (!rq->caller) {
        json_write_text(&rq->log, "user", caller->user.id);
        if (caller->session.id)
            json_write_text(&rq->log, "session", caller->session.id);
        else if (caller->actor.id)
            json_write_text(&rq->log, "token", caller->actor.id);
    }
    rq->caller = caller;
    rq->user_id = caller->user.id;
    rq->token_id = rq->has_session ? NULL : caller->actor.id; /* the main token has no id */
    caller->view.user_id = caller->user.id;
    trail_begin(rq, caller->actor.id ? caller->actor.id : "token", caller->actor.name);
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

int auth_check_scope(struct request *rq, unsigned scope) {
    if (rq->caller->scopes & scope || scope == SCOPE_BY_EDGE)
        return 0;
    if (lacks_factor(&rq->caller->session))
        return fail_with_details(rq, FORBIDDEN, SLICE("{\"required\":\"factor\"}"),
                                 "This workspace requires a second factor of its members: set it "
                                 "up by POST /v2/factor.");
    const char *name = scope_name(scope);
    return fail_with_details(rq, FORBIDDEN,
                             slice_of(arena_printf(rq->arena, "{\"required\":\"%s\"}", name)),
                             "This needs the scope %s, which the caller does not have.", name);
}

/* The scope, and a caller with a part of the lines or threads only where the route keeps to it. */
static int check_route(struct request *rq) {
    if (auth_check_scope(rq, rq->route->scope))
        return -1;
    const struct store_view *view = &rq->caller->view;
    if (view_is_whole(view) || rq->route->lines)
        return 0;
    if (!view->line_ids)
        return fail_with_details(rq, FORBIDDEN, SLICE("{\"required\":\"all threads\"}"),
                                 "This is about all threads, and the caller does not see "
                                 "those of colleagues.");
    return fail_with_details(rq, FORBIDDEN, SLICE("{\"required\":\"all lines\"}"),
                             "This is about all lines, and the caller has some of them only.");
}

/* Checks token, account and plan in the order of spec 5.5, then the scope. */
static int check_account(struct request *rq) {
    return check_caller(rq) || check_user(rq) || check_route(rq) ? -1 : 0;
}

/* A session without account and plan. */
static int check_session(struct request *rq) {
    return check_caller(rq) || check_route(rq) ? -1 : 0;
}

int auth_check_token(struct request *rq, struct slice token) {
    return set_caller(rq, token, (struct slice){NULL, 0}) || check_user(rq) || check_route(rq) ? -1
                                                                                               : 0;
}

static int check_overview(struct request *rq) {
    struct slice token;
    return find_token(rq, &token) || token.p ? check_account(rq) : check_session(rq);
}

int auth_fail_line(struct request *rq) {
    return fail(rq, FORBIDDEN,
                "phoneNumberId does not belong to a line of this account; see GET /v2/me.");
}

int auth_choose_line(struct request *rq, const char *phone_number_id) {
    struct caller *caller = rq->caller;
    enum store_result result =
        store_find_line(caller->store, rq->arena, &caller->view, phone_number_id, &caller->line);
    if (result == STORE_NOT_FOUND)
        return auth_fail_line(rq);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_text(&rq->log, "line", caller->line.id);
    return 0;
}

/* Whether one of the lines is of the account. */
static bool has_line(const struct line *lines, size_t count, const char *account_id) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i].account_id, account_id) == 0)
            return true;
    return false;
}

/* A caller who has some of the lines only sees their accounts. */
static enum store_result keep_accounts_of_lines(struct request *rq, struct store_account *accounts,
                                                size_t *count) {
    const struct caller *caller = rq->caller;
    const struct line_filter filter = {.view = &caller->view, .is_without_archived = true};
    struct line *lines;
    size_t line_count, kept = 0;
    enum store_result result =
        store_list_lines(caller->store, rq->arena, &filter, &lines, &line_count);
    for (size_t i = 0; result == STORE_OK && i < *count; i++)
        if (has_line(lines, line_count, accounts[i].id))
            accounts[kept++] = accounts[i];
    *count = kept;
    return result;
}

int auth_list_accounts(struct request *rq, struct store_account **accounts, size_t *count) {
    const struct caller *caller = rq->caller;
    enum store_result result =
        store_list_accounts(caller->store, rq->arena, caller->user.id, accounts, count);
    if (result == STORE_OK && caller->view.line_ids)
        result = keep_accounts_of_lines(rq, *accounts, count);
    return result == STORE_OK ? 0 : state_fail(rq, result);
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
static int check_fresh(struct request *rq) {
    if (check_session(rq))
        return -1;
    if (auth_is_fresh(rq))
        return 0;
    return fail_with_details(rq, FORBIDDEN, SLICE("{\"required\":\"confirmation\"}"),
                             "The login is older than 10 minutes: send the password by POST "
                             "/v2/session/confirm, or log in again.");
}

bool auth_is_fresh(const struct request *rq) {
    return rq->now - rq->caller->session.confirmed_at < FRESH_MS;
}

const struct guard session_guard = {.before_body = check_session, .requires = REQUIRES_SESSION};
const struct guard fresh_guard = {.before_body = check_fresh, .requires = REQUIRES_SESSION};
