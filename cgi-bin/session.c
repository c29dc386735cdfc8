/* The sessions of the dashboard: login, list, end, workspace; the password; a new API token. */
#include "api/auth.h"
#include "api/login.h"
#include "api/paging.h"
#include "api/request_trail.h"
#include "api/session_cookie.h"
#include "base/password.h"
#include "base/token.h"
#include "store/admin.h"
#include "store/invitation.h"

/* --- answers --- */

static void write_session(struct json_writer *data, const struct store_session *session) {
    json_write_text(data, "id", session->id);
    json_write_time(data, "createdAt", session->created_at);
    json_write_time(data, "expiresAt", session->expires_at);
}

static void write_member(struct json_writer *data, const struct store_session *session) {
    json_write_object(data, "member");
    json_write_text(data, "id", session->member_id);
    json_write_text(data, "email", session->member_email);
    json_write_text(data, "name", session->member_name);
    json_write_text(data, "role", session->role);
    json_write_words(data, "lineIds", session->line_ids);
    json_write_bool(data, "ownThreadsOnly", session->is_own_only);
    json_write_array(data, "scopes");
    const unsigned scopes = auth_session_scopes(session);
    for (unsigned scope = 1; scope_name(scope); scope <<= 1)
        if (scopes & scope)
            json_write_text(data, NULL, scope_name(scope));
    json_write_end(data);
    json_write_end(data);
}

static void write_workspaces(struct json_writer *data, const struct store_workspace *list,
                             size_t count) {
    json_write_array(data, "workspaces");
    for (size_t i = 0; i < count; i++) {
        json_write_object(data, NULL);
        json_write_text(data, "id", list[i].id);
        json_write_text(data, "email", list[i].email);
        json_write_text(data, "role", role_name(list[i].role));
        json_write_end(data);
    }
    json_write_end(data);
}

static int reply_session(struct request *rq, struct store *store, const struct store_user *user,
                         const struct store_session *session) {
    struct store_workspace *workspaces;
    size_t count;
    const char *hash;
    struct json_writer data;
    enum store_result result = store_find_password(store, rq->arena, session->member_id, &hash);
    if (result == STORE_OK)
        result = store_list_workspaces(store, rq->arena, session->member_id, &workspaces, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    reply_start(rq, &data);
    json_write_object(&data, "user");
    json_write_text(&data, "id", user->id);
    json_write_text(&data, "email", user->email);
    json_write_end(&data);
    write_member(&data, session);
    write_workspaces(&data, workspaces, count);
    json_write_object(&data, "session");
    write_session(&data, session);
    json_write_end(&data);
    json_write_bool(&data, "passwordIsSet", hash != NULL);
    json_write_object(&data, "factor");
    json_write_bool(&data, "isSet", session->has_factor);
    json_write_bool(&data, "isRequired", session->requires_factor);
    json_write_end(&data);
    return reply_object(rq, &data);
}

static int reply_ended(struct request *rq, size_t count) {
    const char *text = arena_printf(rq->arena, "{\"ended\":%zu}", count);
    return reply_data(rq, slice_of(text));
}

/* --- login --- */

/* Answers with the session that was inserted, and gives its cookie, and that of the browser; NULL:
 * the browser keeps its own. Of a login that waits for the second factor it gives the cookie only.
 */
static int reply_login(struct request *rq, struct store *store,
                       const struct store_new_session *inserted, const char *value,
                       const char *browser) {
    struct store_user user;
    struct store_session session;
    if (inserted->is_pending) {
        session_set_pending_cookie(rq, value);
        return reply_data(rq, SLICE("{\"needs\":\"factor\"}"));
    }
    enum store_result result = store_authenticate_session(store, rq->arena, inserted->hash, NULL,
                                                          rq->now, &user, &session);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_text(&rq->log, "user", user.id);
    json_write_text(&rq->log, "session", session.id);
    session_set_cookie(rq, value);
    if (browser)
        session_set_device_cookie(rq, browser);
    return reply_session(rq, store, &user, &session);
}

static int login_by_link(struct request *rq, struct store *store) {
    struct slice link = json_string(json_get(rq->json, "link"), rq->arena);
    unsigned char hash[CRYPTO_HASH_SIZE];
    const char *value;
    if (login_check_client(rq, store))
        return -1;
    struct store_new_session session = session_make(rq, NULL, &value);
    session.is_by_link = true;
    const char *browser = session_join_browser(rq, &session);
    crypto_sha256(link, hash);
    trail_begin(rq, NULL, "login link");
    enum store_result result = store_use_link(store, rq->arena, hash, &session);
    if (result == STORE_NOT_FOUND)
        return login_refuse_client(rq, store,
                                   "The link is not valid: it can be used once, and within 15 "
                                   "minutes. `switchboard user login-link` prints a new one.");
    if (result == STORE_CONFLICT)
        return fail(rq, UNAUTHORIZED,
                    "The link was used already; a link logs in once. `switchboard user login-link` "
                    "prints a new one.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    return reply_login(rq, store, &session, value, browser);
}

static int login_by_password(struct request *rq, struct store *store) {
    struct slice password = json_string(json_get(rq->json, "password"), rq->arena);
    const char *email = json_text(json_get(rq->json, "email"), rq->arena), *value;
    struct login login = {.email = email ? email : ""};
    if (login_take_turn(rq))
        return -1;
    int wrong = login_check(rq, store, &login, password, UNAUTHORIZED,
                            "Email address or password are wrong.");
    login_end_turn();
    if (wrong)
        return -1;
    struct store_new_session session = session_make(rq, login.member_id, &value);
    session.password = login.password;
    const char *browser = session_join_browser(rq, &session);
    trail_begin(rq, login.member_id, login.email);
    enum store_result result = store_insert_session(store, &session);
    if (result == STORE_NOT_FOUND)
        return fail(rq, UNAUTHORIZED, "The password was changed during the login; log in again.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    return reply_login(rq, store, &session, value, browser);
}

static int fail_invitation(struct request *rq, struct store *store) {
    return login_refuse_client(rq, store,
                               "The invitation is not valid: it can be accepted once, within 7 "
                               "days, and while its maker may give the role. Ask for a new one.");
}

/* Within a turn: makes the member of an invitation, and the session. */
static int join(struct request *rq, struct store *store, struct store_acceptance *acceptance) {
    struct slice password = json_string(json_get(rq->json, "password"), rq->arena);
    enum member_refusal refusal;
    char id[ID_SIZE], hash[PASSWORD_HASH_SIZE];
    const char *value;
    if (!password_hash(password, hash))
        return fail(rq, INTERNAL, "The gateway has too little memory to hash a password.");
    id_make(id, "mbr_", rq->now);
    struct store_new_session session = session_make(rq, id, &value);
    const char *browser = session_join_browser(rq, &session);
    acceptance->member_id = id;
    acceptance->name = json_text(json_get(rq->json, "name"), rq->arena);
    acceptance->password = hash;
    trail_begin(rq, NULL, "invitation");
    enum store_result result = store_join(store, rq->arena, acceptance, &session, &refusal);
    if (result == STORE_NOT_FOUND)
        return fail_invitation(rq, store);
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT,
                    "A member has the email address of this invitation: log in as that member, "
                    "then accept it by POST /v2/invitations/accept.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (refusal)
        return fail(rq, CONFLICT, "The workspace has %d members, which is the most.", MEMBERS_MAX);
    return reply_login(rq, store, &session, value, browser);
}

/* Checks the link before a password is hashed, so that a stranger costs no turn. */
static int join_by_invitation(struct request *rq, struct store *store) {
    struct store_acceptance acceptance = {.now = rq->now};
    const char *email;
    if (login_check_client(rq, store))
        return -1;
    crypto_sha256(json_string(json_get(rq->json, "invitation"), rq->arena), acceptance.hash);
    enum store_result result =
        store_find_invitation(store, rq->arena, acceptance.hash, rq->now, &email);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (!email)
        return fail_invitation(rq, store);
    if (login_take_turn(rq))
        return -1;
    int status = join(rq, store, &acceptance);
    login_end_turn();
    return status;
}

static int post_join(struct request *rq) {
    if (session_is_foreign(rq))
        return fail(rq, FORBIDDEN, "A page of another origin cannot log in; use /dashboard/.");
    struct store *store = state_store(rq, INTERNAL);
    return store ? join_by_invitation(rq, store) : -1;
}

static int post_session(struct request *rq) {
    bool has_link = json_is(json_get(rq->json, "link"));
    if (session_is_foreign(rq))
        return fail(rq, FORBIDDEN, "A page of another origin cannot log in; use /dashboard/.");
    if (!has_link && !json_is(json_get(rq->json, "email")))
        return fail_on_issue(rq, "email", "required", "is required with a password");
    struct store *store = state_store(rq, INTERNAL);
    if (!store)
        return -1;
    return has_link ? login_by_link(rq, store) : login_by_password(rq, store);
}

/* --- sessions --- */

static int get_session(struct request *rq) {
    const struct caller *caller = rq->caller;
    return reply_session(rq, caller->store, &caller->user, &caller->session);
}

static int patch_session(struct request *rq) {
    struct caller *caller = rq->caller;
    enum store_result result = store_renew_session(caller->store, &caller->session, rq->now);
    if (result == STORE_NOT_FOUND)
        return fail(rq, UNAUTHORIZED, "The session has ended; log in again.");
    return result == STORE_OK ? get_session(rq) : state_fail(rq, result);
}

static int end_session(struct request *rq, const char *id) {
    const struct caller *caller = rq->caller;
    enum store_result result =
        store_delete_session(caller->store, caller->user.id, caller->session.member_id, id);
    if (result != STORE_OK)
        return state_fail_absent(rq, result, "There is no such session; see GET /v2/sessions.");
    if (strcmp(id, caller->session.id) == 0)
        session_clear_cookie(rq);
    return reply_ended(rq, 1);
}

static int delete_session(struct request *rq) {
    return end_session(rq, rq->caller->session.id);
}

static int delete_one(struct request *rq) {
    return end_session(rq, request_segment(rq));
}

static int delete_others(struct request *rq) {
    const struct caller *caller = rq->caller;
    size_t count;
    enum store_result result = store_delete_other_sessions(
        caller->store, caller->user.id, caller->session.member_id, caller->session.id, &count);
    return result == STORE_OK ? reply_ended(rq, count) : state_fail(rq, result);
}

static void write_entry(struct json_writer *data, const struct store_session_entry *entry,
                        const char *current) {
    json_write_object(data, NULL);
    write_session(data, &entry->session);
    json_write_time(data, "lastSeenAt", entry->session.last_seen_at);
    json_write_text(data, "address", entry->address);
    json_write_text(data, "agent", entry->agent);
    json_write_bool(data, "isCurrent", strcmp(entry->session.id, current) == 0);
    json_write_end(data);
}

static int get_sessions(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct store_session_entry *sessions;
    struct json_writer data;
    size_t count;
    enum store_result result = store_list_sessions(
        caller->store, rq->arena, caller->session.member_id, rq->now, &sessions, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        write_entry(&data, &sessions[i], caller->session.id);
    return paging_reply_cursor(rq, &data, NULL);
}

/* --- password and token --- */

/* Within a turn, checks the password that the member `name` of the body holds. Without the member
 * it is enough that `may_be_absent`. Returns 0, or -1 after failing the request. */
static int confirm(struct request *rq, const char *name, bool may_be_absent) {
    const struct caller *caller = rq->caller;
    struct json given = json_get(rq->json, name);
    struct login login = {.email = caller->session.member_email, .session_id = caller->session.id};
    if (json_is(given))
        return login_check(rq, caller->store, &login, json_string(given, rq->arena), FORBIDDEN,
                           "The password is wrong.");
    if (may_be_absent)
        return 0;
    return fail_with_details(
        rq, FORBIDDEN, slice_of(arena_printf(rq->arena, "{\"required\":\"%s\"}", name)),
        "The login is older than 10 minutes: send the password as %s, or log in again.", name);
}

/* Within a turn: checks the present password, and sets the new one. */
static int set_password(struct request *rq, struct slice password) {
    const struct caller *caller = rq->caller;
    const char *old, *value;
    char hash[PASSWORD_HASH_SIZE];
    enum store_result result =
        store_find_password(caller->store, rq->arena, caller->session.member_id, &old);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (old && confirm(rq, "current", caller->session.is_by_link || auth_is_fresh(rq)))
        return -1;
    if (!password_hash(password, hash))
        return fail(rq, INTERNAL, "The gateway has too little memory to hash a password.");
    struct store_new_session session = session_make(rq, caller->session.member_id, &value);
    session.user_id = caller->user.id;
    result = store_set_password(caller->store, session.member_id, hash, &session, rq->now);
    return result == STORE_OK ? reply_login(rq, caller->store, &session, value, NULL)
                              : state_fail(rq, result);
}

static int put_password(struct request *rq) {
    struct slice password = json_string(json_get(rq->json, "password"), rq->arena);
    if (login_take_turn(rq))
        return -1;
    int result = set_password(rq, password);
    login_end_turn();
    return result;
}

static int reply_token(struct request *rq, const struct token *token) {
    struct json_writer data;
    reply_start(rq, &data);
    json_write_text(&data, "token", token->text);
    json_write_time(&data, "createdAt", rq->now);
    json_write_text(&data, "last4", token->last4);
    return reply_object(rq, &data);
}

static int post_token(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct token token;
    if (json_is(json_get(rq->json, "password")) && login_take_turn(rq))
        return -1;
    int wrong = confirm(rq, "password", auth_is_fresh(rq));
    login_end_turn();
    if (wrong)
        return -1;
    token_make(&token, TOKEN_MAIN);
    enum store_result result =
        store_replace_token(caller->store, caller->user.email, token.hash, token.last4, rq->now);
    if (result == STORE_OK)
        reply_token(rq, &token);
    crypto_wipe(&token, sizeof token);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

/* --- confirmation and workspace --- */

static int post_confirm(struct request *rq) {
    struct caller *caller = rq->caller;
    if (login_take_turn(rq))
        return -1;
    int wrong = confirm(rq, "password", false);
    login_end_turn();
    if (wrong)
        return -1;
    enum store_result result =
        store_confirm_session(caller->store, caller->user.id, caller->session.id, rq->now);
    if (result == STORE_NOT_FOUND)
        return fail(rq, UNAUTHORIZED, "The session has ended; log in again.");
    return result == STORE_OK ? get_session(rq) : state_fail(rq, result);
}

/* Answers with the session as it then is. */
static int reply_workspace(struct request *rq, const char *workspace) {
    struct caller *caller = rq->caller;
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256(session_cookie(rq), hash);
    enum store_result result = store_authenticate_session(caller->store, rq->arena, hash, workspace,
                                                          rq->now, &caller->user, &caller->session);
    return result == STORE_OK ? get_session(rq) : state_fail(rq, result);
}

static int put_workspace(struct request *rq) {
    const struct caller *caller = rq->caller;
    const char *id = json_text(json_get(rq->json, "workspaceId"), rq->arena);
    enum store_result result = store_choose_workspace(caller->store, caller->session.id,
                                                      caller->session.member_id, id ? id : "");
    if (result == STORE_NOT_FOUND)
        return fail(rq, FORBIDDEN,
                    "workspaceId is none of the member's workspaces; GET /v2/session lists them.");
    return result == STORE_OK ? reply_workspace(rq, id) : state_fail(rq, result);
}

/* --- routes --- */

static const struct text_rule given_rule = {.meaning = "a text of at most 128 bytes",
                                            .longest = PASSWORD_LONGEST};
static const struct text_rule email_rule = {.meaning = "an email address of at most 254 bytes",
                                            .longest = 254};
static const struct text_rule password_rule = {
    .meaning = "a password of at least 12 characters, at most 128 bytes, that is not among the "
               "most frequent ones",
    .longest = PASSWORD_LONGEST,
    .check = password_problem};

static const char *const ways[] = {"link", "password", NULL};

#define PASSWORD(name_, rule_)                                                                     \
    .name = (name_), .type = FIELD_STRING, .rule = &(rule_), .example = "correct horse battery"

static const struct field login_fields[] = {
    {.name = "email", .type = FIELD_STRING, .rule = &email_rule, .example = "ann@example.org"},
    {PASSWORD("password", given_rule)},
    {.name = "link", .type = FIELD_STRING, .rule = &given_rule, .example = "5f0c"},
    {.type = FIELD_ONE_OF, .names = ways, .max = 1},
    {0},
};

static const struct field join_fields[] = {
    {.name = "invitation",
     .type = FIELD_STRING,
     .required = true,
     .rule = &given_rule,
     .example = "5f0c"},
    {.name = "name",
     .type = FIELD_STRING,
     .required = true,
     .rule = &field_name_rule,
     .example = "Ann"},
    {PASSWORD("password", password_rule), .required = true},
    {0},
};

static const struct field password_fields[] = {
    {PASSWORD("password", password_rule), .required = true},
    {PASSWORD("current", given_rule)},
    {0},
};

static const struct field confirm_fields[] = {
    {PASSWORD("password", given_rule), .required = true},
    {0},
};

static const struct field workspace_fields[] = {
    {.name = "workspaceId", .type = FIELD_STRING, .required = true},
    {0},
};

static const struct field token_fields[] = {{PASSWORD("password", given_rule)}, {0}};

/* clang-format off */
static const struct route routes[] = {
    {.method = "POST", .path = "/v2/session",
     .trail = "session.begin",
     .handle = post_session, .fields = login_fields},
    {.method = "GET", .path = "/v2/session",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = get_session},
    {.method = "PATCH", .path = "/v2/session",
     .trail = NO_TRAIL("a renewal"),
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = patch_session},
    {.method = "DELETE", .path = "/v2/session",
     .trail = "session.end",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = delete_session},
    {.method = "POST", .path = "/v2/session/join",
     .trail = "session.join",
     .handle = post_join, .fields = join_fields},
    {.method = "POST", .path = "/v2/session/confirm",
     .trail = "session.confirm",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = post_confirm,
     .fields = confirm_fields},
    {.method = "PUT", .path = "/v2/session/workspace",
     .trail = NO_TRAIL("chooses what the session shows"),
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = put_workspace,
     .fields = workspace_fields},
    {.method = "GET", .path = "/v2/sessions",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = get_sessions},
    {.method = "DELETE", .path = "/v2/sessions",
     .trail = "session.end_others",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = delete_others},
    {.method = "DELETE", .path = "/v2/sessions/:sessionId",
     .trail = "session.end",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = delete_one},
    {.method = "PUT", .path = "/v2/password",
     .trail = "password.set",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = put_password,
     .fields = password_fields},
    {.method = "POST", .path = "/v2/token",
     .trail = "token.replace",
     .scope = SCOPE_OWNER, .guard = &session_guard, .handle = post_token, .fields = token_fields},
    {0},
};
/* clang-format on */

const struct service this_service = {
    .name = "session", .routes = routes, .needs = WRITES_DATABASE, .prepare = login_prepare};
