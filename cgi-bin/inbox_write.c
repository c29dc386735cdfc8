/* What an inbox writes: blocks of contacts, and which messages are read. */
#include "api/auth.h"
#include "api/view/inbox_json.h"
#include "store/block.h"
#include "store/read_mark.h"

/* --- /v2/contacts/:contactId/block --- */

static int reply_blocks(struct request *rq, const char *contact_id) {
    struct contact_block *blocks;
    size_t count;
    struct json_writer data;
    enum store_result result =
        store_list_blocks(rq->caller->store, rq->arena, contact_id, &blocks, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    inbox_write_blocks(&data, blocks, count);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

static int change_blocks(struct request *rq, const char *phone_number_id,
                         enum store_result (*change)(struct store *, struct arena *,
                                                     struct store_owner_block *)) {
    struct store_owner_block block = {.user_id = rq->caller->user.id,
                                      .contact_id = arena_copy(rq->arena, rq->parameters[0]),
                                      .phone_number_id = phone_number_id,
                                      .now = rq->now};
    request_release(rq); /* a view would hold an older state */
    enum store_result result = change(rq->caller->store, rq->arena, &block);
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND,
                    "There is no contact with this id: GET /v2/contacts lists them.");
    if (result == STORE_CONFLICT)
        return fail(rq, NOT_FOUND,
                    "The contact's account has no line with this phoneNumberId: "
                    "GET /v2/lines lists them.");
    return result == STORE_OK ? reply_blocks(rq, block.contact_id) : state_fail(rq, result);
}

static const struct field block_fields[] = {
    {.name = "phoneNumberId", .type = FIELD_STRING},
    {0},
};

/* A phoneNumberId with a NUL character counts up to that character, and names no line then: it does
 * not count as absent. */
static int put_block(struct request *rq) {
    return change_blocks(rq, json_string(json_get(rq->json, "phoneNumberId"), rq->arena).p,
                         store_block);
}

static int delete_block(struct request *rq) {
    return change_blocks(rq, query_get(&rq->query, "phoneNumberId").p, store_unblock);
}

/* --- POST /v2/threads/:threadId/read --- */

static const struct field read_fields[] = {
    {.name = "upTo", .type = FIELD_STRING},
    {0},
};

static int fail_up_to(struct request *rq) {
    struct issues issues;
    request_start_issues(rq, &issues);
    issues_add(&issues, "upTo", "invalid_value", "must be the id of a message of this thread");
    return fail_on_issues(rq, &issues);
}

static int post_read(struct request *rq) {
    struct json up_to = json_get(rq->json, "upTo");
    const char *message_id = json_text(up_to, rq->arena);
    int64_t unread;
    struct json_writer data;
    if (json_type(up_to) == JSON_STRING && !message_id) /* it holds a NUL */
        return fail_up_to(rq);
    enum store_result result =
        store_mark_read(rq->caller->store, rq->caller->user.id,
                        arena_copy(rq->arena, rq->parameters[0]), message_id, &unread);
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND, "There is no thread with this id: GET /v2/threads lists them.");
    if (result == STORE_CONFLICT)
        return fail_up_to(rq);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_integer(&data, "unread", unread);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "PUT", .path = "/v2/contacts/:contactId/block",
     .guard = &caller_guard, .handle = put_block, .body = BODY_JSON, .fields = block_fields},
    {.method = "DELETE", .path = "/v2/contacts/:contactId/block",
     .guard = &caller_guard, .handle = delete_block, .query = block_fields},
    {.method = "POST", .path = "/v2/threads/:threadId/read",
     .guard = &caller_guard, .handle = post_read, .body = BODY_JSON, .fields = read_fields},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "inbox_write",
                                   .routes = routes,
                                   .needs = WRITES_DATABASE,
                                   .takes_rewrites = true},
                 argc, argv);
}
