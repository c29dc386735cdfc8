#include "api/auth.h"

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

/* The token of the request, from either header; p == NULL after failing the request. */
static struct slice find_token(struct request *rq) {
    struct slice bearer = bearer_token(request_variable("HTTP_AUTHORIZATION"));
    struct slice plain = slice_trim(slice_of(request_variable("HTTP_X_API_TOKEN")));
    if (bearer.n && plain.n && !crypto_equal(bearer, plain)) {
        fail(rq, UNAUTHORIZED,
             "Authorization and X-API-Token hold different tokens; send the token in one of them.");
        return (struct slice){NULL, 0};
    }
    if (bearer.n || plain.n)
        return bearer.n ? bearer : plain;
    fail_with_details(rq, UNAUTHORIZED,
                      SLICE("{\"hint\":\"Send the token as the header Authorization: Bearer "
                            "API_TOKEN, or as the header X-API-Token: API_TOKEN.\"}"),
                      "Missing API token");
    return (struct slice){NULL, 0};
}

static int authenticate(struct request *rq, struct caller *caller) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    struct slice token = find_token(rq);
    if (!token.p || !(caller->store = state_store(rq, INTERNAL)))
        return -1;
    crypto_sha256(token, hash);
    state_hold_view(rq);
    enum store_result result = store_authenticate(caller->store, rq->arena, hash, &caller->user);
    if (result == STORE_NOT_FOUND)
        return fail(rq, UNAUTHORIZED, "Invalid API token");
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

static int check_plan(struct request *rq, const struct store_user *user) {
    if (user->plan_ends_at <= rq->now)
        return fail(rq, PLAN_EXPIRED, "The plan has ended; renew it to go on.");
    if (!user->plan_name ||
        (strcmp(user->plan_name, "Premium") != 0 && strcmp(user->plan_name, "Enterprise") != 0))
        return fail(rq, PLAN_REQUIRED, "The API needs a Premium or Enterprise plan.");
    return 0;
}

static int check_token(struct request *rq) {
    struct caller *caller = arena_alloc(rq->arena, sizeof *caller);
    if (authenticate(rq, caller))
        return -1;
    if (!rq->caller)
        json_write_text(&rq->log, "user", caller->user.id);
    rq->caller = caller;
    if (!caller->user.has_valid_account)
        return fail(rq, NOT_FOUND,
                    "No messaging account with a valid platform access token is linked.");
    return check_plan(rq, &caller->user);
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

const struct guard token_guard = {.before_body = check_token, .requires = REQUIRES_TOKEN};
const struct guard line_guard = {.before_body = check_token,
                                 .before_fields = check_line,
                                 .requires = REQUIRES_TOKEN | REQUIRES_LINE};
