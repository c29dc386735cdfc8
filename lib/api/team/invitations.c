#include "api/team/invitations.h"

#include "api/auth.h"
#include "api/paging.h"
#include "api/team/line_choice.h"
#include "api/team/members.h"
#include "base/token.h"
#include "payload/team_json.h"

/* --- GET /v2/invitations --- */

int invitations_get(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct store_invitation *invitations;
    struct json_writer data;
    size_t count;
    enum store_result result =
        store_list_invitations(caller->store, rq->arena, &caller->view, &invitations, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++) {
        json_write_object(&data, NULL);
        team_json_invitation(&data, &invitations[i]);
        json_write_end(&data);
    }
    return paging_reply_cursor(rq, &data, NULL);
}

/* --- POST /v2/invitations --- */

/* No later answer has the path. */
static int reply_new(struct request *rq, const struct store_invitation *invitation,
                     const char *secret) {
    struct json_writer data;
    reply_start(rq, &data);
    team_json_invitation(&data, invitation);
    json_write_text(&data, "path", arena_printf(rq->arena, "/dashboard/#/join/%s", secret));
    return reply_object(rq, &data);
}

int invitations_post(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct standing given = {.role = role_find(json_text(json_get(rq->json, "role"), rq->arena))};
    enum member_refusal refusal;
    struct token secret;
    char id[ID_SIZE];
    if (members_read_limits(rq, true, &given))
        return -1;
    id_make(id, "inv_", rq->now);
    const struct store_invitation invitation = {
        .id = id,
        .user_id = caller->user.id,
        .email = json_text(json_get(rq->json, "email"), rq->arena),
        .role = given.role,
        .line_ids = given.line_ids,
        .is_own_only = given.is_own_only,
        .made_by = caller->session.member_id,
        .created_by = caller->actor.name,
        .created_at = rq->now,
        .expires_at = rq->now + INVITATION_MS,
    };
    token_make(&secret, "");
    enum store_result result =
        store_insert_invitation(caller->store, rq->arena, &invitation, secret.hash, &refusal);
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT, "A member of this workspace has the email address already.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    return refusal ? members_fail(rq, refusal) : reply_new(rq, &invitation, secret.text);
}

/* --- POST /v2/invitations/accept --- */

static int fail_acceptance(struct request *rq, enum store_result result) {
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND,
                    "The invitation is not valid: it can be accepted once, within 7 days, and "
                    "while its maker may give the role. Ask for a new one.");
    if (result == STORE_CONFLICT)
        return fail(rq, FORBIDDEN,
                    "The invitation is for another email address than that of this login.");
    return state_fail(rq, result);
}

int invitations_accept(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct store_acceptance acceptance = {
        .member_id = caller->session.member_id, .session_id = caller->session.id, .now = rq->now};
    enum member_refusal refusal;
    crypto_sha256(json_string(json_get(rq->json, "invitation"), rq->arena), acceptance.hash);
    enum store_result result =
        store_accept_invitation(caller->store, rq->arena, &acceptance, &refusal);
    if (result != STORE_OK)
        return fail_acceptance(rq, result);
    if (refusal)
        return members_fail(rq, refusal);
    return reply_data(
        rq, slice_of(arena_printf(rq->arena, "{\"workspaceId\":\"%s\"}", acceptance.user_id)));
}

/* --- DELETE /v2/invitations/:invitationId --- */

int invitations_delete(struct request *rq) {
    const struct caller *caller = rq->caller;
    enum store_result result =
        store_delete_invitation(caller->store, rq->arena, &caller->view, request_segment(rq));
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND,
                    "There is no invitation with this id: GET /v2/invitations lists them.");
    return result == STORE_OK ? reply_data(rq, SLICE("{\"revoked\":true}"))
                              : state_fail(rq, result);
}

/* --- the fields --- */

static const char *email_problem(struct slice text) {
    const char *at = memchr(text.p, '@', text.n);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 127)
            return "must hold no spaces and control characters";
    return at && at > text.p && at < text.p + text.n - 1 ? NULL : "must be an email address";
}

static const struct text_rule email_rule = {.meaning = "an email address of at most 254 bytes",
                                            .pattern =
                                                "^[^\\x00-\\x20\\x7F@]+@[^\\x00-\\x20\\x7F]+$",
                                            .longest = 254,
                                            .check = email_problem};
static const struct text_rule link_rule = {.meaning = "a text of at most 128 bytes",
                                           .longest = 128};

const struct field invitations_fields[] = {
    {.name = "email",
     .type = FIELD_STRING,
     .required = true,
     .rule = &email_rule,
     .example = "ben@example.org"},
    {ROLE_FIELD, .required = true},
    LINES_FIELD,
    OWN_FIELD,
    {0},
};

const struct field invitations_accept_fields[] = {
    {.name = "invitation",
     .type = FIELD_STRING,
     .required = true,
     .rule = &link_rule,
     .example = "5f0c"},
    {0},
};
