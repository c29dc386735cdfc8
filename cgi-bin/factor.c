/* The second factor of a member: its set-up and removal, recovery codes, and the second step of a
 * login. */
#include "api/auth.h"
#include "api/login_attempt.h"
#include "api/request_trail.h"
#include "api/session_cookie.h"
#include "base/totp.h"
#include "store/seal_context.h"
#include "store/second_factor.h"
#include "web/reply.h"

enum {
    RECOVERY_BYTES = 15, /* of a code: 120 bits, 24 letters */
    GROUP = 6,           /* letters of a code between two hyphens */
    CODE_LONGEST = 100,  /* bytes, with spaces */
};

/* --- the secret --- */

/* Reads the factor of the member `value->object` again. */
static int read_factor_again(struct request *rq, struct state_sealed *value) {
    struct store *store = state_store(rq, INTERNAL);
    struct store_factor factor;
    enum store_result result =
        store ? store_find_factor(store, rq->arena, value->object, &factor) : STORE_UNAVAILABLE;
    if (result != STORE_OK)
        return store ? state_fail(rq, result) : -1;
    value->sealed = factor.secret;
    return 0;
}

/* Opens the secret; p == NULL after failing the request. */
static struct slice open_secret(struct request *rq, const char *member_id,
                                const struct store_factor *factor) {
    struct state_sealed value = {.sealed = factor->secret,
                                 .context = factor_secret_context(rq->arena, member_id),
                                 .read_again = read_factor_again,
                                 .object = arena_copy(rq->arena, slice_of(member_id))};
    const struct slice secret = state_open_sealed(rq, &value);
    if (!secret.p && !rq->failure.code)
        fail(rq, INTERNAL,
             "The second factor cannot be decrypted: the key file of the gateway lacks its key.");
    return secret;
}

/* A new secret to be sealed. */
struct new_secret {
    struct request *rq;
    const char *member_id;
    struct slice text, sealed;
};

static struct slice seal_new(void *context) {
    struct new_secret *new = context;
    return state_seal(new->rq, new->text, factor_secret_context(new->rq->arena, new->member_id),
                      &new->sealed);
}

/* --- codes --- */

/* The letters and digits of what was typed, in upper case: apps and people group codes. */
static struct slice plain_code(struct request *rq, const char *name) {
    const struct slice given = json_string(json_get(rq->json, name), rq->arena);
    struct buffer plain = buffer_in(rq->arena);
    for (size_t i = 0; i < given.n; i++) {
        const char c = given.p[i];
        if (c != ' ' && c != '-')
            buffer_printf(&plain, "%c", c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    return buffer_slice(&plain);
}

/* Makes new recovery codes, and writes them as people type them. */
static void make_codes(struct request *rq, struct json_writer *data,
                       struct store_recovery_codes *codes) {
    unsigned char random[RECOVERY_BYTES];
    json_write_array(data, "recoveryCodes");
    for (int i = 0; i < RECOVERY_CODES; i++) {
        struct buffer shown = buffer_in(rq->arena);
        crypto_random(random, sizeof random);
        const char *code = totp_base32(rq->arena, random, sizeof random);
        crypto_sha256(slice_of(code), codes->hashes[i]);
        for (const char *p = code; *p; p += GROUP)
            buffer_printf(&shown, "%s%.*s", p == code ? "" : "-", GROUP, p);
        json_write_string(data, NULL, buffer_slice(&shown));
    }
    json_write_end(data);
    crypto_wipe(random, sizeof random);
}

/* --- GET /v2/factor --- */

static int find_factor(struct request *rq, struct store_factor *factor) {
    enum store_result result =
        store_find_factor(rq->caller->store, rq->arena, rq->caller->session.member_id, factor);
    return result == STORE_OK || result == STORE_NOT_FOUND ? 0 : state_fail(rq, result);
}

static int get_factor(struct request *rq) {
    struct store_factor factor;
    struct json_writer data;
    if (find_factor(rq, &factor))
        return -1;
    reply_start(rq, &data);
    json_write_bool(&data, "isSet", factor.is_set);
    json_write_bool(&data, "isRequired", rq->caller->session.requires_factor);
    json_write_time_or_null(&data, "createdAt", factor.is_set ? factor.created_at : INT64_MAX);
    json_write_integer(&data, "recoveryCodes", factor.is_set ? factor.codes : 0);
    return reply_object(rq, &data);
}

/* --- POST /v2/factor --- */

static int fail_set(struct request *rq) {
    return fail(rq, CONFLICT,
                "The member has a second factor already: remove it by DELETE /v2/factor first.");
}

static void write_escaped(struct buffer *out, const char *text) {
    for (const char *p = text; *p; p++)
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
            strchr("-._~", *p))
            buffer_printf(out, "%c", *p);
        else
            buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
}

/* The address by which an authenticator app takes the secret. */
static struct slice write_uri(struct request *rq, const char *secret) {
    struct buffer uri = buffer_in(rq->arena);
    buffer_printf(&uri, "otpauth://totp/Switchboard:");
    write_escaped(&uri, rq->caller->session.member_email);
    buffer_printf(&uri, "?secret=%s&issuer=Switchboard", secret);
    return buffer_slice(&uri);
}

static int post_factor(struct request *rq) {
    const char *member_id = rq->caller->session.member_id;
    unsigned char random[TOTP_SECRET_SIZE];
    struct json_writer data;
    crypto_random(random, sizeof random);
    struct new_secret new = {
        .rq = rq, .member_id = member_id, .text = {(const char *)random, sizeof random}};
    request_release(rq); /* a view would hold an older state */
    enum store_result result = store_begin_factor(rq->caller->store, member_id,
                                                  &(struct store_secret){seal_new, &new}, rq->now);
    const char *secret = totp_base32(rq->arena, random, sizeof random);
    crypto_wipe(random, sizeof random);
    if (result == STORE_CONFLICT)
        return fail_set(rq);
    if (result != STORE_OK)
        return rq->failure.code ? -1 : state_fail(rq, result);
    reply_start(rq, &data);
    json_write_text(&data, "secret", secret);
    json_write_string(&data, "uri", write_uri(rq, secret));
    return reply_object(rq, &data);
}

/* --- POST /v2/factor/confirm --- */

static int fail_code(struct request *rq) {
    return fail(rq, FORBIDDEN, "The code is wrong: check the clock of the device.");
}

static int post_confirm(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct store_factor factor;
    struct store_recovery_codes codes;
    struct json_writer data;
    if (find_factor(rq, &factor))
        return -1;
    if (factor.is_set)
        return fail_set(rq);
    if (!factor.secret.n)
        return fail(rq, NOT_FOUND, "No second factor is being set up: POST /v2/factor begins it.");
    const struct slice secret = open_secret(rq, caller->session.member_id, &factor);
    if (!secret.p)
        return -1;
    const int64_t step = totp_find_step(secret, plain_code(rq, "code"), rq->now, factor.last_step);
    if (step < 0)
        return fail_code(rq);
    reply_start(rq, &data);
    make_codes(rq, &data, &codes);
    request_release(rq); /* a view would hold an older state */
    enum store_result result = store_set_factor(caller->store, &caller->session, caller->user.id,
                                                &factor, step, &codes, rq->now);
    if (result == STORE_CONFLICT)
        return fail_set(rq);
    return result == STORE_OK ? reply_object(rq, &data) : state_fail(rq, result);
}

/* --- POST /v2/factor/codes, DELETE /v2/factor --- */

static int fail_unset(struct request *rq, enum store_result result) {
    return state_fail_absent(rq, result,
                             "The member has no second factor: POST /v2/factor begins one.");
}

static int post_codes(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct store_recovery_codes codes;
    struct json_writer data;
    reply_start(rq, &data);
    make_codes(rq, &data, &codes);
    request_release(rq); /* a view would hold an older state */
    enum store_result result = store_replace_recovery_codes(caller->store, caller->user.id,
                                                            caller->session.member_id, &codes);
    return result == STORE_OK ? reply_object(rq, &data) : fail_unset(rq, result);
}

static int delete_factor(struct request *rq) {
    const struct caller *caller = rq->caller;
    request_release(rq); /* a view would hold an older state */
    enum store_result result = store_delete_factor(caller->store, caller->user.id,
                                                   caller->session.member_id, caller->session.id);
    return result == STORE_OK ? reply_data(rq, SLICE("{\"removed\":true}"))
                              : fail_unset(rq, result);
}

/* --- POST /v2/factor/login --- */

/* Reads what the body has as the second factor. Returns 1 for what cannot be right, and -1 after
 * failing the request. */
static int read_proof(struct request *rq, struct store *store, const char *member_id,
                      unsigned char hash[CRYPTO_HASH_SIZE], struct store_proof *proof) {
    struct store_factor factor;
    if (json_is(json_get(rq->json, "recoveryCode"))) {
        crypto_sha256(plain_code(rq, "recoveryCode"), hash);
        proof->code = hash;
        return 0;
    }
    enum store_result result = store_find_factor(store, rq->arena, member_id, &factor);
    if (result != STORE_OK)
        return result == STORE_NOT_FOUND ? login_fail_ended(rq) : state_fail(rq, result);
    const struct slice secret = open_secret(rq, member_id, &factor);
    if (!secret.p)
        return -1;
    proof->step = totp_find_step(secret, plain_code(rq, "code"), rq->now, factor.last_step);
    return proof->step < 0;
}

static int refuse(struct request *rq, struct store *store, const struct store_pending *pending,
                  const unsigned char hash[CRYPTO_HASH_SIZE], struct store_login *attempt) {
    attempt->pending = hash;
    attempt->user_id = pending->user_id;
    attempt->member_id = pending->member_id;
    return login_fail(rq, store, attempt, UNAUTHORIZED,
                      "The code is wrong, or was used already: take the next one.");
}

static int reply_login(struct request *rq, const struct store_new_session *session,
                       const char *value, const char *browser) {
    json_write_text(&rq->log, "session", session->id);
    session_set_cookie(rq, value);
    session_set_device_cookie(rq, browser);
    session_clear_pending_cookie(rq);
    return reply_data(rq, SLICE("{\"loggedIn\":true}"));
}

/* Checks the proof of an attempt that is not blocked, and makes the session. */
static int log_in(struct request *rq, struct store *store, const struct store_pending *pending,
                  const unsigned char hash[CRYPTO_HASH_SIZE], struct store_login *attempt) {
    unsigned char of_code[CRYPTO_HASH_SIZE];
    struct store_proof proof = {.code = NULL};
    const char *value;
    const int problem = read_proof(rq, store, pending->member_id, of_code, &proof);
    if (problem)
        return problem < 0 ? -1 : refuse(rq, store, pending, hash, attempt);
    struct store_new_session session = session_make(rq, pending->member_id, &value);
    const char *browser = session_join_browser(rq, &session);
    trail_begin(rq, pending->member_id, pending->name);
    enum store_result result = store_end_pending(store, hash, &proof, &session);
    if (result == STORE_NOT_FOUND)
        return login_fail_ended(rq);
    if (result == STORE_CONFLICT)
        return refuse(rq, store, pending, hash, attempt);
    if (result == STORE_OK)
        result = store_clear_login_failures(store, attempt);
    return result == STORE_OK ? reply_login(rq, &session, value, browser) : state_fail(rq, result);
}

static int post_login(struct request *rq) {
    const struct slice cookie = pending_cookie(rq);
    struct store *store = state_store(rq, INTERNAL);
    struct store_pending pending;
    unsigned char hash[CRYPTO_HASH_SIZE];
    if (!store)
        return -1;
    crypto_sha256(cookie, hash);
    enum store_result result =
        cookie.p ? store_find_pending(store, rq->arena, hash, rq->now, &pending) : STORE_NOT_FOUND;
    if (result != STORE_OK)
        return result == STORE_NOT_FOUND ? login_fail_ended(rq) : state_fail(rq, result);
    struct store_login attempt = login_start(rq);
    const struct login login = {
        .email = pending.email, .member_id = pending.member_id, .is_of_factor = true};
    result = login_count_for(rq, store, &login, &attempt);
    if (result != STORE_OK)
        return state_fail(rq, result);
    return login_begin(rq, store, &attempt) ? -1 : log_in(rq, store, &pending, hash, &attempt);
}

/* --- routes --- */

static const struct text_rule code_rule = {.meaning = "a text of at most 100 bytes",
                                           .longest = CODE_LONGEST};

#define CODE_FIELD .name = "code", .type = FIELD_STRING, .rule = &code_rule, .example = "287082"

static const char *const proofs[] = {"code", "recoveryCode", NULL};

static const struct field login_fields[] = {
    {CODE_FIELD},
    {.name = "recoveryCode",
     .type = FIELD_STRING,
     .rule = &code_rule,
     .example = "MZXW6Y-TBOI2G-K43UMV-ZXIZLS"},
    {.type = FIELD_ONE_OF, .names = proofs, .max = 1},
    {0},
};

static const struct field confirm_fields[] = {{CODE_FIELD, .required = true}, {0}};
/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/factor",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard, .handle = get_factor},
    {.method = "POST", .path = "/v2/factor",
     .trail = NO_TRAIL("no login asks for it before it is confirmed"),
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &fresh_guard, .handle = post_factor,
     .fields = field_none},
    {.method = "DELETE", .path = "/v2/factor",
     .trail = "factor.delete",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &fresh_guard, .handle = delete_factor},
    {.method = "POST", .path = "/v2/factor/confirm",
     .trail = "factor.create",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &fresh_guard, .handle = post_confirm,
     .fields = confirm_fields},
    {.method = "POST", .path = "/v2/factor/codes",
     .trail = "factor.codes",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &fresh_guard, .handle = post_codes,
     .fields = field_none},
    {.method = "POST", .path = "/v2/factor/login",
     .trail = "session.create",
     .handle = post_login, .fields = login_fields},
    {0},
};
/* clang-format on */

const struct service this_service = {
    .name = "factor", .routes = routes, .needs = WRITES_DATABASE | USES_KEYS};
