/* The sessions of the dashboard: login, list, end; the password; a new API token. */
#include "api/auth.h"
#include "api/login.h"
#include "api/paging.h"
#include "api/session_cookie.h"
#include "base/password.h"
#include "base/token.h"
#include "store/admin.h"
#include "store/logins.h"

enum {
    VALUE_BYTES = 32,          /* of a cookie's value; its text is hexadecimal */
    FRESH_MS = 10 * 60 * 1000, /* so long after a login the password is not required again */
    AGENT_LONGEST = 200,       /* bytes of the User-Agent that the list shows */
};

/* --- answers --- */

static void write_session(struct json_writer *data, const struct store_session *session) {
    json_write_text(data, "id", session->id);
    json_write_time(data, "createdAt", session->created_at);
    json_write_time(data, "expiresAt", session->expires_at);
}

static int reply_session(struct request *rq, struct store *store, const struct store_user *user,
                         const struct store_session *session) {
    const char *hash;
    struct json_writer data;
    enum store_result result = store_find_password(store, rq->arena, user->id, &hash);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_object(&data, "user");
    json_write_text(&data, "id", user->id);
    json_write_text(&data, "email", user->email);
    json_write_end(&data);
    json_write_object(&data, "session");
    write_session(&data, session);
    json_write_end(&data);
    json_write_bool(&data, "passwordIsSet", hash != NULL);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

static int reply_ended(struct request *rq, size_t count) {
    const char *text = arena_printf(rq->arena, "{\"ended\":%zu}", count);
    return reply_data(rq, slice_of(text));
}

#define COOKIE_RULES "; Path=/; Secure; HttpOnly; SameSite=Strict"

/* Without a lifetime, so that the browser drops it when it ends. */
static void set_cookie(struct request *rq, const char *value) {
    reply_header(rq, "Set-Cookie",
                 arena_printf(rq->arena, SESSION_COOKIE "=%s" COOKIE_RULES, value));
}

static void set_device_cookie(struct request *rq, const char *value) {
    reply_header(rq, "Set-Cookie",
                 arena_printf(rq->arena, DEVICE_COOKIE "=%s" COOKIE_RULES "; Max-Age=%lld", value,
                              (long long)(DEVICE_MS / 1000)));
}

static void clear_cookie(struct request *rq) {
    reply_header(rq, "Set-Cookie", SESSION_COOKIE "=" COOKIE_RULES "; Max-Age=0");
}

/* --- login --- */

/* A new session, and the value of its cookie, of which only the hash is stored. */
static struct store_new_session make_session(struct request *rq, const char *user_id,
                                             const char **value) {
    unsigned char random[VALUE_BYTES];
    struct slice agent = slice_of(request_variable("HTTP_USER_AGENT"));
    char *id = arena_alloc(rq->arena, ID_SIZE);
    id_make(id, "ses_", rq->now);
    struct store_new_session session = {
        .id = id, .user_id = user_id, .address = login_address(rq), .agent = "", .now = rq->now};
    if (agent.n)
        session.agent = arena_copy(
            rq->arena, (struct slice){agent.p, agent.n < AGENT_LONGEST ? agent.n : AGENT_LONGEST});
    crypto_random(random, sizeof random);
    *value = crypto_hex(rq->arena, random, sizeof random);
    crypto_sha256(slice_of(*value), session.hash);
    crypto_wipe(random, sizeof random);
    return session;
}

/* The value of the browser's cookie, or a new one. */
static const char *browser_value(struct request *rq) {
    const struct slice known = device_cookie();
    unsigned char random[VALUE_BYTES];
    const char *value = known.p ? arena_copy(rq->arena, known) : "";
    if (known.n == (size_t)2 * VALUE_BYTES && strspn(value, "0123456789abcdef") == known.n)
        return value;
    crypto_random(random, sizeof random);
    return crypto_hex(rq->arena, random, sizeof random);
}

/* Makes the session one of a login in this browser, and ends the one that it replaces there.
 * Returns the value of the browser's cookie. */
static const char *join_browser(struct request *rq, struct store_new_session *session) {
    const char *value = browser_value(rq);
    const struct slice present = session_cookie(rq);
    unsigned char *hashes = arena_alloc(rq->arena, (size_t)2 * CRYPTO_HASH_SIZE);
    crypto_sha256(slice_of(value), hashes);
    session->device = hashes;
    if (present.p) {
        crypto_sha256(present, hashes + CRYPTO_HASH_SIZE);
        session->replaced = hashes + CRYPTO_HASH_SIZE;
    }
    return value;
}

/* Answers with the session that was inserted, and gives its cookie, and that of the browser; NULL:
 * the browser keeps its own. */
static int reply_login(struct request *rq, struct store *store,
                       const struct store_new_session *inserted, const char *value,
                       const char *browser) {
    struct store_user user;
    struct store_session session;
    enum store_result result =
        store_authenticate_session(store, rq->arena, inserted->hash, rq->now, &user, &session);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_text(&rq->log, "user", user.id);
    json_write_text(&rq->log, "session", session.id);
    set_cookie(rq, value);
    if (browser)
        set_device_cookie(rq, browser);
    return reply_session(rq, store, &user, &session);
}

static int login_by_link(struct request *rq, struct store *store) {
    struct slice link = json_string(json_get(rq->json, "link"), rq->arena);
    unsigned char hash[CRYPTO_HASH_SIZE];
    const char *value;
    if (login_check_client(rq, store))
        return -1;
    struct store_new_session session = make_session(rq, NULL, &value);
    session.is_by_link = true;
    const char *browser = join_browser(rq, &session);
    crypto_sha256(link, hash);
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
    struct store_new_session session = make_session(rq, login.user_id, &value);
    session.password = login.password;
    const char *browser = join_browser(rq, &session);
    enum store_result result = store_insert_session(store, &session);
    if (result == STORE_NOT_FOUND)
        return fail(rq, UNAUTHORIZED, "The password was changed during the login; log in again.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    return reply_login(rq, store, &session, value, browser);
}

static int check_email(struct request *rq) {
    struct issues issues;
    request_start_issues(rq, &issues);
    if (!json_is(json_get(rq->json, "email")))
        issues_add(&issues, "email", "required", "is required with a password");
    return fail_on_issues(rq, &issues);
}

static int post_session(struct request *rq) {
    bool has_link = json_is(json_get(rq->json, "link"));
    if (session_is_foreign(rq))
        return fail(rq, FORBIDDEN, "A page of another origin cannot log in; use /dashboard/.");
    if (!has_link && check_email(rq))
        return -1;
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
    enum store_result result = store_delete_session(caller->store, caller->user.id, id);
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND, "There is no such session; see GET /v2/sessions.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (strcmp(id, caller->session.id) == 0)
        clear_cookie(rq);
    return reply_ended(rq, 1);
}

static int delete_session(struct request *rq) {
    return end_session(rq, rq->caller->session.id);
}

static int delete_one(struct request *rq) {
    return end_session(rq, arena_copy(rq->arena, rq->parameters[0]));
}

static int delete_others(struct request *rq) {
    const struct caller *caller = rq->caller;
    size_t count;
    enum store_result result =
        store_delete_other_sessions(caller->store, caller->user.id, caller->session.id, &count);
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
    enum store_result result =
        store_list_sessions(caller->store, rq->arena, caller->user.id, rq->now, &sessions, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_array(&data, "items");
    for (size_t i = 0; i < count; i++)
        write_entry(&data, &sessions[i], caller->session.id);
    json_write_end(&data);
    paging_write_cursor(&data, NULL);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

/* --- password and token --- */

static bool is_fresh(const struct request *rq) {
    return rq->now - rq->caller->session.created_at < FRESH_MS;
}

/* Within a turn, checks the password that the member `name` of the body holds. Without the member
 * it is enough that `may_be_absent`. Returns 0, or -1 after failing the request. */
static int confirm(struct request *rq, const char *name, bool may_be_absent) {
    const struct caller *caller = rq->caller;
    struct json given = json_get(rq->json, name);
    struct login login = {.email = caller->user.email, .session_id = caller->session.id};
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
    enum store_result result = store_find_password(caller->store, rq->arena, caller->user.id, &old);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (old && confirm(rq, "current", caller->session.is_by_link || is_fresh(rq)))
        return -1;
    if (!password_hash(password, hash))
        return fail(rq, INTERNAL, "The gateway has too little memory to hash a password.");
    struct store_new_session session = make_session(rq, caller->user.id, &value);
    result = store_set_password(caller->store, caller->user.id, hash, &session, rq->now);
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
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_text(&data, "token", token->text);
    json_write_time(&data, "createdAt", rq->now);
    json_write_text(&data, "last4", token->last4);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

static int post_token(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct token token;
    if (json_is(json_get(rq->json, "password")) && login_take_turn(rq))
        return -1;
    int wrong = confirm(rq, "password", is_fresh(rq));
    login_end_turn();
    if (wrong)
        return -1;
    token_make(&token);
    enum store_result result =
        store_replace_token(caller->store, caller->user.email, token.hash, token.last4, rq->now);
    if (result == STORE_OK)
        reply_token(rq, &token);
    crypto_wipe(&token, sizeof token);
    return result == STORE_OK ? 0 : state_fail(rq, result);
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

static const struct field login_fields[] = {
    {.name = "email", .type = FIELD_STRING, .rule = &email_rule, .example = "ann@example.org"},
    {.name = "password",
     .type = FIELD_STRING,
     .rule = &given_rule,
     .example = "correct horse battery"},
    {.name = "link", .type = FIELD_STRING, .rule = &given_rule, .example = "5f0c"},
    {.type = FIELD_ONE_OF, .names = ways, .max = 1},
    {0},
};

static const struct field password_fields[] = {
    {.name = "password",
     .type = FIELD_STRING,
     .required = true,
     .rule = &password_rule,
     .example = "correct horse battery"},
    {.name = "current",
     .type = FIELD_STRING,
     .rule = &given_rule,
     .example = "correct horse battery"},
    {0},
};

static const struct field token_fields[] = {
    {.name = "password",
     .type = FIELD_STRING,
     .rule = &given_rule,
     .example = "correct horse battery"},
    {0},
};

/* clang-format off */
static const struct route routes[] = {
    {.method = "POST", .path = "/v2/session",
     .handle = post_session, .body = BODY_JSON, .fields = login_fields},
    {.method = "GET", .path = "/v2/session",
     .guard = &session_guard, .handle = get_session},
    {.method = "PATCH", .path = "/v2/session",
     .guard = &session_guard, .handle = patch_session},
    {.method = "DELETE", .path = "/v2/session",
     .guard = &session_guard, .handle = delete_session},
    {.method = "GET", .path = "/v2/sessions",
     .guard = &session_guard, .handle = get_sessions},
    {.method = "DELETE", .path = "/v2/sessions",
     .guard = &session_guard, .handle = delete_others},
    {.method = "DELETE", .path = "/v2/sessions/:sessionId",
     .guard = &session_guard, .handle = delete_one},
    {.method = "PUT", .path = "/v2/password",
     .guard = &session_guard, .handle = put_password, .body = BODY_JSON, .fields = password_fields},
    {.method = "POST", .path = "/v2/token",
     .guard = &session_guard, .handle = post_token, .body = BODY_JSON, .fields = token_fields},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "session",
                                   .routes = routes,
                                   .needs = WRITES_DATABASE,
                                   .prepare = login_prepare},
                 argc, argv);
}
