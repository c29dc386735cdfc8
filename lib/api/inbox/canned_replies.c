#include "api/inbox/canned_replies.h"

#include "api/auth.h"
#include "api/idempotency.h"
#include "api/paging.h"
#include "payload/person_json.h"
#include "store/canned_reply.h"

static const char *shortcut_problem(struct slice text) {
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 0x7f || text.p[i] == '/')
            return "must hold no space, slash or control character";
    return NULL;
}

static const struct text_rule shortcut_rule = {
    .meaning = "at most 60 bytes without spaces, slashes and control characters",
    .pattern = "^[^\\u0000-\\u0020\\u007f/]*$",
    .longest = 60,
    .check = shortcut_problem};

#define SHORTCUT_FIELD                                                                             \
    .name = "shortcut", .type = FIELD_STRING, .rule = &shortcut_rule, .example = "hours"
#define TEXT_FIELD                                                                                 \
    .name = "text", .type = FIELD_STRING, .rule = &field_text_rule,                                \
    .example = "Hello {name}, we are open from 9 to 18."

const struct field canned_replies_query[] = {PAGING_FIELDS, {0}};
const struct field canned_replies_fields[] = {
    {SHORTCUT_FIELD, .required = true}, {TEXT_FIELD, .required = true}, {0}};
const struct field canned_replies_change_fields[] = {{SHORTCUT_FIELD}, {TEXT_FIELD}, {0}};

static void write_reply(struct json_writer *data, const struct store_canned_reply *reply) {
    json_write_object(data, NULL);
    json_write_text(data, "id", reply->id);
    json_write_text(data, "shortcut", reply->shortcut);
    json_write_text(data, "text", reply->text);
    actor_json_write(data, "by", &reply->by);
    json_write_time(data, "createdAt", reply->created_at);
    json_write_time(data, "updatedAt", reply->updated_at);
    json_write_end(data);
}

/* One more than the limit shows that there are more. */
int canned_replies_get(struct request *rq) {
    const struct caller *caller = rq->caller;
    const char *parts[2] = {NULL};
    struct store_canned_reply *replies;
    struct json_writer data;
    size_t count;
    if (cursor_read(rq, "after", "replies", parts, 2) < 0)
        return -1;
    enum store_result result =
        store_list_canned_replies(caller->store, rq->arena, caller->user.id, parts[1],
                                  paging_limit(rq) + 1, &replies, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        write_reply(&data, &replies[i]);
    parts[0] = "replies";
    parts[1] = has_more ? replies[count - 1].shortcut : NULL;
    return paging_reply_cursor(rq, &data, has_more ? cursor_write(rq->arena, parts, 2) : NULL);
}

static int fail_reply(struct request *rq, enum store_result result,
                      enum canned_reply_refusal refusal) {
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND,
                    "There is no canned reply with this id: GET /v2/replies lists "
                    "them.");
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (refusal == CANNED_REPLY_FULL)
        return fail(rq, CONFLICT, "There are %d canned replies already; delete one.",
                    CANNED_REPLIES_MAX);
    if (refusal == CANNED_REPLY_TAKEN)
        return fail(rq, CONFLICT, "Another canned reply has this shortcut.");
    return fail(rq, FORBIDDEN, "The canned reply is of another member; an admin can change it.");
}

static int reply_reply(struct request *rq, const char *id) {
    const struct caller *caller = rq->caller;
    struct store_canned_reply reply;
    struct json_writer data;
    enum store_result result =
        store_find_canned_reply(caller->store, rq->arena, caller->user.id, id, &reply);
    if (result != STORE_OK)
        return fail_reply(rq, result, CANNED_REPLY_NOT_REFUSED);
    json_write_start(&data, rq->arena);
    write_reply(&data, &reply);
    return reply_data(rq, json_written(&data));
}

/* Answers the canned reply of the request; one that was deleted since is 404. */
static int answer_again(struct request *rq, const char *request_id, const void *none) {
    (void)none;
    return reply_reply(rq, idempotency_id(rq, "rpl_", request_id));
}

static struct store_canned_reply read_body(struct request *rq, const char *id) {
    return (struct store_canned_reply){
        .id = id,
        .shortcut = json_text(json_get(rq->json, "shortcut"), rq->arena),
        .text = json_text(json_get(rq->json, "text"), rq->arena),
        .by = rq->caller->actor,
        .created_at = rq->now,
        .updated_at = rq->now,
    };
}

/* Adds the reply, unless an earlier request with the same Idempotency-Key has done so. */
static int make_reply(struct request *rq, const char *request_id, const void *none) {
    (void)none;
    const struct caller *caller = rq->caller;
    const struct store_canned_reply reply = read_body(rq, idempotency_id(rq, "rpl_", request_id));
    struct store_canned_reply made;
    enum canned_reply_refusal refusal = CANNED_REPLY_NOT_REFUSED;
    if (store_find_canned_reply(caller->store, rq->arena, caller->user.id, reply.id, &made) ==
        STORE_OK) {
        rq->has_trail = true; /* by that request */
        return reply_reply(rq, reply.id);
    }
    enum store_result result =
        store_insert_canned_reply(caller->store, caller->user.id, &reply, &refusal);
    return result == STORE_OK && !refusal ? reply_reply(rq, reply.id)
                                          : fail_reply(rq, result, refusal);
}

int canned_replies_post(struct request *rq) {
    return idempotency_run(rq, make_reply, answer_again);
}

/* Who may change those of others: callers with the scope manage; NULL. */
static const char *author(const struct caller *caller) {
    return caller->scopes & SCOPE_MANAGE ? NULL : caller->actor.id;
}

int canned_replies_patch(struct request *rq) {
    const struct caller *caller = rq->caller;
    const struct store_canned_reply reply = read_body(rq, request_segment(rq));
    enum canned_reply_refusal refusal = CANNED_REPLY_NOT_REFUSED;
    request_release(rq); /* a view would hold an older state */
    enum store_result result =
        store_change_canned_reply(caller->store, caller->user.id, &reply, author(caller), &refusal);
    return result == STORE_OK && !refusal ? reply_reply(rq, reply.id)
                                          : fail_reply(rq, result, refusal);
}

int canned_replies_delete(struct request *rq) {
    const struct caller *caller = rq->caller;
    enum canned_reply_refusal refusal = CANNED_REPLY_NOT_REFUSED;
    enum store_result result = store_delete_canned_reply(
        caller->store, caller->user.id, request_segment(rq), author(caller), &refusal);
    return result == STORE_OK && !refusal ? reply_data(rq, SLICE("{\"deleted\":true}"))
                                          : fail_reply(rq, result, refusal);
}
