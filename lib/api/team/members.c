#include "api/team/members.h"

#include "api/auth.h"
#include "api/paging.h"
#include "api/team/line_choice.h"
#include "base/token.h"
#include "store/second_factor.h"

const struct field members_change_fields[] = {{ROLE_FIELD}, LINES_FIELD, OWN_FIELD, {0}};

int members_fail(struct request *rq, enum member_refusal refusal) {
    switch (refusal) {
    case MEMBER_NOT_REFUSED: break;
    case MEMBER_ABOVE:
        return fail(
            rq, FORBIDDEN,
            "The member's role, or the one to be given, is above what your role may change.");
    case MEMBER_OTHER_LINES:
        return fail(rq, FORBIDDEN,
                    "The member has lines, or would get some, that you do not have.");
    case MEMBER_OWNER_LINES:
        return fail(rq, CONFLICT, "An owner has all lines: send \"lineIds\": null too.");
    case MEMBER_ALL_THREADS:
        return fail(rq, CONFLICT,
                    "An admin and an owner see all threads: send \"ownThreadsOnly\": false too.");
    case MEMBER_LAST_OWNER:
        return fail(rq, CONFLICT, "A workspace has at least one owner: make another one first.");
    case MEMBER_TOO_MANY:
        return fail(rq, CONFLICT,
                    "A workspace has at most %d members; remove one, or revoke an invitation.",
                    MEMBERS_MAX);
    case MEMBER_ELSEWHERE:
        return fail(rq, FORBIDDEN,
                    "The member belongs to other workspaces too: only the operator can do this, "
                    "by `switchboard user login-link` and `switchboard member factor-reset`.");
    case MEMBER_NO_FACTOR: return fail(rq, NOT_FOUND, "The member has no second factor.");
    }
    return fail(rq, INTERNAL, "The change was refused for an unknown reason.");
}

int members_read_limits(struct request *rq, bool has_lines, struct standing *standing) {
    struct issues issues;
    request_start_issues(rq, &issues);
    if (has_lines && line_choice_read(rq, &issues, &standing->line_ids))
        return -1;
    if (standing->line_ids && standing->role == ROLE_OWNER)
        issues_add(&issues, "lineIds", "invalid_value", "must be null: an owner has all lines");
    standing->is_own_only = json_type(json_get(rq->json, "ownThreadsOnly")) == JSON_TRUE;
    if (standing->is_own_only && standing->role >= ROLE_ADMIN)
        issues_add(&issues, "ownThreadsOnly", "invalid_value",
                   "must be false: an admin and an owner see all threads");
    return fail_on_issues(rq, &issues);
}

/* --- GET /v2/members --- */

/* Email addresses, limits, and what protects the login, are shown to those who may change members,
 * and the own one; lines only if the caller has them, too. */
static void write_member(struct json_writer *data, const struct caller *caller,
                         const struct store_member *member) {
    const bool is_self = strcmp(member->id, caller->session.member_id) == 0;
    json_write_object(data, NULL);
    json_write_text(data, "id", member->id);
    json_write_text(data, "name", member->name);
    json_write_text(data, "role", role_name(member->role));
    json_write_bool(data, "isSelf", is_self);
    if (is_self || caller->scopes & SCOPE_TEAM) {
        json_write_text(data, "email", member->email);
        json_write_bool(data, "hasFactor", member->has_factor);
        if (!member->line_ids || lines_are_within(member->line_ids, caller->view.line_ids))
            json_write_words(data, "lineIds", member->line_ids);
        json_write_bool(data, "ownThreadsOnly", member->is_own_only);
    }
    json_write_time(data, "createdAt", member->created_at);
    json_write_text(data, "createdBy", member->created_by);
    json_write_end(data);
}

int members_get(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct store_member *members;
    struct json_writer data;
    size_t count;
    enum store_result result =
        store_list_members(caller->store, rq->arena, caller->user.id, &members, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        write_member(&data, caller, &members[i]);
    return paging_reply_cursor(rq, &data, NULL);
}

/* --- PATCH and DELETE /v2/members/:memberId --- */

static struct store_member_change change_of(struct request *rq) {
    return (struct store_member_change){.user_id = rq->caller->user.id,
                                        .member_id = request_segment(rq),
                                        .by = rq->caller->session.member_id};
}

/* Fails the request unless the change was made. */
static int check(struct request *rq, enum store_result result, enum member_refusal refusal) {
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND, "There is no member with this id: GET /v2/members lists them.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    return refusal ? members_fail(rq, refusal) : 0;
}

/* Finds the member of the workspace. Returns 0, or -1 after failing the request. */
static int find(struct request *rq, const char *id, const struct store_member **member) {
    const struct caller *caller = rq->caller;
    struct store_member *members;
    size_t count;
    enum store_result result =
        store_list_members(caller->store, rq->arena, caller->user.id, &members, &count);
    for (size_t i = 0; result == STORE_OK && i < count; i++)
        if (strcmp(members[i].id, id) == 0) {
            *member = &members[i];
            return 0;
        }
    return check(rq, result == STORE_OK ? STORE_NOT_FOUND : result, MEMBER_NOT_REFUSED);
}

/* The member as the change has left it. */
static int reply_changed(struct request *rq, const char *member_id) {
    const struct store_member *member;
    struct json_writer data;
    if (find(rq, member_id, &member))
        return -1;
    reply_start(rq, &data);
    json_write_text(&data, "id", member_id);
    json_write_text(&data, "role", role_name(member->role));
    json_write_words(&data, "lineIds", member->line_ids);
    json_write_bool(&data, "ownThreadsOnly", member->is_own_only);
    return reply_object(rq, &data);
}

/* Whether the workspace has the member is said before what is wrong with the limits. */
int members_patch(struct request *rq) {
    const struct store_member *member;
    struct store_member_change change = change_of(rq);
    enum member_refusal refusal;
    struct standing left = {.role = role_find(json_text(json_get(rq->json, "role"), rq->arena))};
    change.sets_lines = json_is(json_get(rq->json, "lineIds"));
    change.sets_own = json_is(json_get(rq->json, "ownThreadsOnly"));
    if ((change.sets_lines || change.sets_own) &&
        (find(rq, change.member_id, &member) || members_read_limits(rq, change.sets_lines, &left)))
        return -1;
    change.role = left.role;
    change.line_ids = left.line_ids;
    change.is_own_only = left.is_own_only;
    request_release(rq); /* the answer reads what is written */
    enum store_result result = store_change_member(rq->caller->store, rq->arena, &change, &refusal);
    return check(rq, result, refusal) ? -1 : reply_changed(rq, change.member_id);
}

int members_delete(struct request *rq) {
    const struct store_member_change change = change_of(rq);
    enum member_refusal refusal;
    enum store_result result = store_remove_member(rq->caller->store, rq->arena, &change, &refusal);
    return check(rq, result, refusal) ? -1 : reply_data(rq, SLICE("{\"removed\":true}"));
}

/* --- DELETE /v2/members/:memberId/factor --- */

int members_delete_factor(struct request *rq) {
    const struct store_member_change change = change_of(rq);
    enum member_refusal refusal;
    enum store_result result = store_reset_factor(rq->caller->store, rq->arena, &change, &refusal);
    return check(rq, result, refusal) ? -1 : reply_data(rq, SLICE("{\"removed\":true}"));
}

/* --- POST /v2/members/:memberId/link --- */

int members_post_link(struct request *rq) {
    const struct store_member_change change = change_of(rq);
    const int64_t expires_at = rq->now + LINK_MS;
    enum member_refusal refusal;
    struct json_writer data;
    struct token secret;
    token_make(&secret, "");
    enum store_result result = store_insert_reset_link(rq->caller->store, rq->arena, &change,
                                                       secret.hash, expires_at, &refusal);
    if (check(rq, result, refusal))
        return -1;
    reply_start(rq, &data);
    json_write_text(&data, "path", arena_printf(rq->arena, "/dashboard/#/login/%s", secret.text));
    json_write_time(&data, "expiresAt", expires_at);
    return reply_object(rq, &data);
}
