/* Those who use the account: its members, invitations and scoped tokens (spec 5). */
#include "api/auth.h"
#include "api/paging.h"
#include "api/team/invitations.h"
#include "api/team/line_choice.h"
#include "api/team/members.h"
#include "base/token.h"
#include "payload/team_json.h"
#include "store/scoped_token.h"
#include "store/second_factor.h"

enum {
    DAYS_PRESET = 365,
    DAYS_MOST = 3650,
};

#define DAY_MS (24 * 60 * 60 * INT64_C(1000))

static int list_tokens(struct request *rq, struct store_scoped_token **list, size_t *count) {
    enum store_result result =
        store_list_scoped_tokens(rq->caller->store, rq->arena, &rq->caller->view, list, count);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

static int fail_token(struct request *rq, enum store_result result) {
    return state_fail_absent(rq, result,
                             "There is no token with this id: GET /v2/tokens lists them.");
}

/* --- GET /v2/tokens --- */

static int get_tokens(struct request *rq) {
    struct store_scoped_token *tokens;
    size_t count;
    struct json_writer data;
    if (list_tokens(rq, &tokens, &count))
        return -1;
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++) {
        json_write_object(&data, NULL);
        team_json_token(&data, &tokens[i]);
        json_write_end(&data);
    }
    return paging_reply_cursor(rq, &data, NULL);
}

/* --- what a body says --- */

/* The scopes of the body in the order of scope_names, each once, as the store keeps them; NULL when
 * the body has none. */
static const char *read_scopes(struct request *rq) {
    struct json list = json_get(rq->json, "scopes");
    struct buffer given = buffer_in(rq->arena);
    if (!json_is(list))
        return NULL;
    for (struct json item = json_first(list); json_is(item); item = json_next(item))
        buffer_printf(&given, "%s ", json_text(item, rq->arena));
    return scope_words(rq->arena, scope_set(buffer_slice(&given)));
}

/* Adds an issue when a token with a choice of lines would have a scope that is about all lines. */
static void check_scopes(struct issues *issues, const char *scopes, const char *line_ids) {
    if (line_ids && scope_set(slice_of(scopes)) & SCOPES_OF_ALL_LINES)
        issues_add(issues, "scopes", "invalid_value",
                   "must hold neither events nor manage with lineIds: they are about all lines");
}

/* --- POST /v2/tokens --- */

/* The time after the body's number of days; null: never. */
static int64_t read_end(struct request *rq) {
    struct json given = json_get(rq->json, "days");
    int64_t days = DAYS_PRESET;
    if (json_type(given) == JSON_NULL)
        return INT64_MAX;
    json_integer(given, &days);
    return rq->now + days * DAY_MS;
}

/* No later answer has the token. */
static int reply_new(struct request *rq, const struct store_scoped_token *row,
                     const struct token *token) {
    struct json_writer data;
    reply_start(rq, &data);
    team_json_token(&data, row);
    json_write_text(&data, "token", token->text);
    return reply_object(rq, &data);
}

static int post_token(struct request *rq) {
    const struct caller *caller = rq->caller;
    const char *line_ids, *scopes = read_scopes(rq);
    struct issues issues;
    struct token token;
    char id[ID_SIZE];
    request_start_issues(rq, &issues);
    if (line_choice_read(rq, &issues, &line_ids))
        return -1;
    check_scopes(&issues, scopes, line_ids);
    if (fail_on_issues(rq, &issues))
        return -1;
    id_make(id, "tok_", rq->now);
    token_make(&token, TOKEN_SCOPED);
    const struct store_scoped_token row = {
        .id = id,
        .name = json_text(json_get(rq->json, "name"), rq->arena),
        .last4 = token.last4,
        .scopes = scopes,
        .line_ids = line_ids,
        .created_by = caller->actor.name,
        .created_at = rq->now,
        .expires_at = read_end(rq),
        .last_used_at = INT64_MAX,
    };
    enum store_result result =
        store_insert_scoped_token(caller->store, caller->user.id, &row, token.hash);
    if (result == STORE_OK)
        reply_new(rq, &row, &token);
    crypto_wipe(&token, sizeof token);
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT, "There are %d tokens already; revoke one.", SCOPED_TOKENS_MAX);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

/* --- PATCH and DELETE /v2/tokens/:tokenId --- */

/* Finds the token that the path names; 0, or -1 after failing the request. */
static int find_token(struct request *rq, const struct store_scoped_token **token) {
    struct store_scoped_token *tokens;
    size_t count;
    if (list_tokens(rq, &tokens, &count))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (slice_equal(slice_of(tokens[i].id), rq->parameters[0])) {
            *token = &tokens[i];
            return 0;
        }
    return fail_token(rq, STORE_NOT_FOUND);
}

static int reply_changed(struct request *rq) {
    const struct store_scoped_token *token;
    struct json_writer data;
    if (find_token(rq, &token))
        return -1;
    reply_start(rq, &data);
    team_json_token(&data, token);
    return reply_object(rq, &data);
}

/* Reads the change, and compares what it leaves as it is: a token whose lines and scopes are
 * changed by two requests at once has no scope that is about all lines (auth.c). */
static int read_change(struct request *rq, struct store_scoped_token_change *change) {
    const struct store_scoped_token *token;
    struct issues issues;
    *change =
        (struct store_scoped_token_change){.name = json_text(json_get(rq->json, "name"), rq->arena),
                                           .scopes = read_scopes(rq),
                                           .sets_lines = json_is(json_get(rq->json, "lineIds"))};
    if (find_token(rq, &token))
        return -1;
    request_start_issues(rq, &issues);
    if (change->sets_lines && line_choice_read(rq, &issues, &change->line_ids))
        return -1;
    check_scopes(&issues, change->scopes ? change->scopes : token->scopes,
                 change->sets_lines ? change->line_ids : token->line_ids);
    return fail_on_issues(rq, &issues);
}

static int patch_token(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct store_scoped_token_change change;
    if (read_change(rq, &change))
        return -1;
    request_release(rq); /* the answer reads what is written */
    enum store_result result = store_change_scoped_token(caller->store, rq->arena, &caller->view,
                                                         request_segment(rq), &change);
    return result == STORE_OK ? reply_changed(rq) : fail_token(rq, result);
}

static int delete_token(struct request *rq) {
    const struct caller *caller = rq->caller;
    enum store_result result =
        store_delete_scoped_token(caller->store, rq->arena, &caller->view, request_segment(rq));
    return result == STORE_OK ? reply_data(rq, SLICE("{\"revoked\":true}"))
                              : fail_token(rq, result);
}

/* --- PATCH /v2/workspace --- */

static int fail_rule(struct request *rq, enum factor_rule_refusal refusal) {
    if (refusal == FACTOR_RULE_NO_OWNER)
        return fail(rq, FORBIDDEN, "Only an owner of the workspace may change this.");
    return fail(rq, CONFLICT,
                "Set up your own second factor first, by POST /v2/factor: without it you could not "
                "use the workspace any more.");
}

static int patch_workspace(struct request *rq) {
    const struct caller *caller = rq->caller;
    const bool is_required = json_type(json_get(rq->json, "requiresFactor")) == JSON_TRUE;
    enum factor_rule_refusal refusal;
    enum store_result result = store_set_factor_rule(
        caller->store, caller->user.id, caller->session.member_id, is_required, &refusal);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (refusal)
        return fail_rule(rq, refusal);
    return reply_data(rq, is_required ? SLICE("{\"requiresFactor\":true}")
                                      : SLICE("{\"requiresFactor\":false}"));
}

static const struct field workspace_fields[] = {
    {.name = "requiresFactor", .type = FIELD_BOOLEAN, .required = true},
    {0},
};

/* --- routes --- */

#define NAME_FIELD                                                                                 \
    .name = "name", .type = FIELD_STRING, .rule = &field_name_rule, .example = "Order robot"
#define SCOPES_FIELD .name = "scopes", .type = FIELD_STRINGS, .values = scope_names, .min = 1

static const struct field new_fields[] = {
    {NAME_FIELD, .required = true},
    {SCOPES_FIELD, .required = true},
    LINES_FIELD,
    {.name = "days", .type = FIELD_INTEGER, .min = 1, .max = DAYS_MOST, .may_be_null = true},
    {0},
};

static const struct field change_fields[] = {{NAME_FIELD}, {SCOPES_FIELD}, LINES_FIELD, {0}};

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/members",
     .scope = SCOPE_READ, .lines = LINES_NONE, .guard = &session_guard, .handle = members_get},
    {.method = "PATCH", .path = "/v2/members/:memberId",
     .trail = "member.update",
     .scope = SCOPE_TEAM, .lines = LINES_BY_HOLDER, .guard = &fresh_guard, .handle = members_patch,
     .fields = members_change_fields},
    {.method = "DELETE", .path = "/v2/members/:memberId",
     .trail = "member.remove",
     .scope = SCOPE_TEAM, .lines = LINES_BY_HOLDER, .guard = &fresh_guard,
     .handle = members_delete},
    {.method = "POST", .path = "/v2/members/:memberId/link",
     .trail = "member.link",
     .scope = SCOPE_TEAM, .lines = LINES_BY_HOLDER, .guard = &fresh_guard,
     .handle = members_post_link},
    {.method = "DELETE", .path = "/v2/members/:memberId/factor",
     .trail = "member.factor-reset",
     .scope = SCOPE_OWNER, .guard = &fresh_guard, .handle = members_delete_factor},
    {.method = "GET", .path = "/v2/invitations",
     .scope = SCOPE_TEAM, .lines = LINES_LISTED, .guard = &session_guard,
     .handle = invitations_get},
    {.method = "POST", .path = "/v2/invitations",
     .trail = "invitation.create",
     .scope = SCOPE_TEAM, .lines = LINES_BY_HOLDER, .guard = &fresh_guard,
     .handle = invitations_post, .fields = invitations_fields},
    {.method = "POST", .path = "/v2/invitations/accept",
     .trail = "invitation.accept",
     .scope = SCOPE_SELF, .lines = LINES_NONE, .guard = &session_guard,
     .handle = invitations_accept, .fields = invitations_accept_fields},
    {.method = "DELETE", .path = "/v2/invitations/:invitationId",
     .trail = "invitation.delete",
     .scope = SCOPE_TEAM, .lines = LINES_BY_HOLDER, .guard = &session_guard,
     .handle = invitations_delete},
    {.method = "GET", .path = "/v2/tokens",
     .scope = SCOPE_TEAM, .lines = LINES_LISTED, .guard = &session_guard, .handle = get_tokens},
    {.method = "POST", .path = "/v2/tokens",
     .trail = "token.create",
     .scope = SCOPE_TEAM, .lines = LINES_BY_HOLDER, .guard = &session_guard, .handle = post_token,
     .fields = new_fields},
    {.method = "PATCH", .path = "/v2/tokens/:tokenId",
     .trail = "token.update",
     .scope = SCOPE_TEAM, .lines = LINES_BY_HOLDER, .guard = &session_guard, .handle = patch_token,
     .fields = change_fields},
    {.method = "DELETE", .path = "/v2/tokens/:tokenId",
     .trail = "token.delete",
     .scope = SCOPE_TEAM, .lines = LINES_BY_HOLDER, .guard = &session_guard,
     .handle = delete_token},
    {.method = "PATCH", .path = "/v2/workspace",
     .trail = "workspace.update",
     .scope = SCOPE_OWNER, .guard = &fresh_guard, .handle = patch_workspace,
     .fields = workspace_fields},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "team", .routes = routes, .needs = WRITES_DATABASE};
