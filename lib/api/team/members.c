#include "api/team/members.h"

#include "api/auth.h"
#include "api/paging.h"
#include "base/crypto.h"
#include "store/second_factor.h"

const struct field members_role_fields[] = {ROLE_FIELD, {0}};

int members_fail(struct request *rq, enum member_refusal refusal) {
    switch (refusal) {
    case MEMBER_NOT_REFUSED: break;
    case MEMBER_ABOVE:
        return fail(
            rq, FORBIDDEN,
            "The member's role, or the one to be given, is above what your role may change.");
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

const char *members_make_secret(struct request *rq, unsigned char hash[32]) {
    unsigned char random[32];
    crypto_random(random, sizeof random);
    const char *text = crypto_hex(rq->arena, random, sizeof random);
    crypto_sha256(slice_of(text), hash);
    crypto_wipe(random, sizeof random);
    return text;
}

/* --- GET /v2/members --- */

/* Email addresses, and what protects the login, are shown to those who may change members, and the
 * own one. */
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

static struct store_member_change change_of(struct request *rq, enum role role) {
    return (struct store_member_change){.user_id = rq->caller->user.id,
                                        .member_id = arena_copy(rq->arena, rq->parameters[0]),
                                        .by = rq->caller->session.member_id,
                                        .role = role};
}

/* Fails the request unless the change was made. */
static int check(struct request *rq, enum store_result result, enum member_refusal refusal) {
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND, "There is no member with this id: GET /v2/members lists them.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    return refusal ? members_fail(rq, refusal) : 0;
}

int members_patch(struct request *rq) {
    const char *name = json_text(json_get(rq->json, "role"), rq->arena);
    const struct store_member_change change = change_of(rq, role_find(name));
    enum member_refusal refusal;
    enum store_result result = store_change_role(rq->caller->store, &change, &refusal);
    if (check(rq, result, refusal))
        return -1;
    return reply_data(rq, slice_of(arena_printf(rq->arena, "{\"id\":\"%s\",\"role\":\"%s\"}",
                                                change.member_id, name)));
}

int members_delete(struct request *rq) {
    const struct store_member_change change = change_of(rq, ROLE_NONE);
    enum member_refusal refusal;
    enum store_result result = store_remove_member(rq->caller->store, &change, &refusal);
    return check(rq, result, refusal) ? -1 : reply_data(rq, SLICE("{\"removed\":true}"));
}

/* --- DELETE /v2/members/:memberId/factor --- */

int members_delete_factor(struct request *rq) {
    const struct store_member_change change = change_of(rq, ROLE_NONE);
    enum member_refusal refusal;
    enum store_result result = store_reset_factor(rq->caller->store, &change, &refusal);
    return check(rq, result, refusal) ? -1 : reply_data(rq, SLICE("{\"removed\":true}"));
}

/* --- POST /v2/members/:memberId/link --- */

int members_post_link(struct request *rq) {
    const struct store_member_change change = change_of(rq, ROLE_NONE);
    unsigned char hash[CRYPTO_HASH_SIZE];
    enum member_refusal refusal;
    struct json_writer data;
    const char *secret = members_make_secret(rq, hash);
    const int64_t expires_at = rq->now + LINK_MS;
    enum store_result result =
        store_insert_reset_link(rq->caller->store, &change, hash, expires_at, &refusal);
    if (check(rq, result, refusal))
        return -1;
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_text(&data, "path", arena_printf(rq->arena, "/dashboard/#/login/%s", secret));
    json_write_time(&data, "expiresAt", expires_at);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}
