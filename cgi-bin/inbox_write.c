/* What an inbox writes: blocks of contacts, which messages are read, what is done and by whom,
 * canned replies, how long it is kept, and that a person is erased. Exports are here too, because
 * they leave a row in the trail. */
#include "api/auth.h"
#include "api/inbox/canned_replies.h"
#include "api/inbox/thread_work.h"
#include "api/request_trail.h"
#include "api/view/inbox_json.h"
#include "payload/export_user.h"
#include "store/block.h"
#include "store/done_mark.h"
#include "store/erasure.h"
#include "store/read_mark.h"
#include "store/retention.h"
#include "web/reply.h"

static int fail_contact(struct request *rq, enum store_result result) {
    return state_fail_absent(rq, result,
                             "There is no contact with this id: GET /v2/contacts lists them.");
}

/* --- /v2/contacts/:contactId/block --- */

static int reply_blocks(struct request *rq, const char *contact_id) {
    struct contact_block *blocks;
    size_t count;
    struct json_writer data;
    enum store_result result = store_list_blocks(rq->caller->store, rq->arena, &rq->caller->view,
                                                 contact_id, &blocks, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    reply_start(rq, &data);
    inbox_write_blocks(&data, blocks, count);
    return reply_object(rq, &data);
}

static int change_blocks(struct request *rq, const char *phone_number_id,
                         enum store_result (*change)(struct store *, struct arena *,
                                                     struct store_owner_block *)) {
    struct store_owner_block block = {.view = &rq->caller->view,
                                      .contact_id = request_segment(rq),
                                      .phone_number_id = phone_number_id,
                                      .now = rq->now};
    request_release(rq); /* a view would hold an older state */
    enum store_result result = change(rq->caller->store, rq->arena, &block);
    if (result == STORE_CONFLICT)
        return fail(rq, NOT_FOUND,
                    "The contact's account has no line with this phoneNumberId: "
                    "GET /v2/lines lists them.");
    return result == STORE_OK ? reply_blocks(rq, block.contact_id) : fail_contact(rq, result);
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

/* --- threads --- */

static int reply_unread(struct request *rq, enum store_result result, int64_t unread) {
    struct json_writer data;
    if (result != STORE_OK)
        return thread_fail(rq, result);
    reply_start(rq, &data);
    json_write_integer(&data, "unread", unread);
    return reply_object(rq, &data);
}

/* --- POST /v2/threads/:threadId/read --- */

static const struct field read_fields[] = {
    {.name = "upTo", .type = FIELD_STRING},
    {0},
};

static int fail_up_to(struct request *rq) {
    return fail_on_issue(rq, "upTo", "invalid_value", "must be the id of a message of this thread");
}

static int post_read(struct request *rq) {
    struct json up_to = json_get(rq->json, "upTo");
    const char *message_id = json_text(up_to, rq->arena);
    int64_t unread;
    if (json_type(up_to) == JSON_STRING && !message_id) /* it holds a NUL */
        return fail_up_to(rq);
    enum store_result result = store_mark_read(rq->caller->store, &rq->caller->view,
                                               request_segment(rq), message_id, &unread);
    return result == STORE_CONFLICT ? fail_up_to(rq) : reply_unread(rq, result, unread);
}

/* --- POST /v2/threads/:threadId/unread --- */

static int post_unread(struct request *rq) {
    int64_t unread;
    enum store_result result =
        store_mark_unread(rq->caller->store, &rq->caller->view, request_segment(rq), &unread);
    return reply_unread(rq, result, unread);
}

/* --- /v2/threads/:threadId/done --- */

static const struct field done_fields[] = {
    {.name = "change", .type = FIELD_INTEGER, .required = true, .min = 0},
    {0},
};

static int reply_done(struct request *rq, enum store_result result, const struct store_done *left) {
    struct json_writer data;
    if (result != STORE_OK)
        return thread_fail(rq, result);
    reply_start(rq, &data);
    json_write_time_or_null(&data, "waitingSince", left->waiting_since);
    json_write_time_or_null(&data, "failedAt", left->failed_at);
    json_write_time_or_null(&data, "doneAt", left->done_at);
    return reply_object(rq, &data);
}

static int post_done(struct request *rq) {
    struct store_done left;
    int64_t change;
    json_integer(json_get(rq->json, "change"), &change);
    enum store_result result = store_mark_done(rq->caller->store, &rq->caller->view,
                                               request_segment(rq), change, rq->now, &left);
    return reply_done(rq, result, &left);
}

static int delete_done(struct request *rq) {
    struct store_done left;
    enum store_result result =
        store_unmark_done(rq->caller->store, &rq->caller->view, request_segment(rq), &left);
    return reply_done(rq, result, &left);
}

/* --- /v2/retention --- */

#define DAYS(name_)                                                                                \
    {                                                                                              \
        .name = (name_), .type = FIELD_INTEGER, .min = RETENTION_LEAST_DAYS,                       \
        .max = RETENTION_MOST_DAYS, .may_be_null = true                                            \
    }

static const struct field retention_fields[] = {DAYS("messageDays"), DAYS("rawDays"), {0}};

static int reply_retention(struct request *rq, const struct store_retention *retention) {
    struct json_writer data;
    reply_start(rq, &data);
    json_write_integer_or_null(&data, "messageDays", retention->message_days);
    json_write_integer_or_null(&data, "rawDays", retention->raw_days);
    return reply_object(rq, &data);
}

static int get_retention(struct request *rq) {
    struct store_retention retention;
    enum store_result result =
        store_find_retention(rq->caller->store, rq->caller->user.id, &retention);
    return result == STORE_OK ? reply_retention(rq, &retention) : state_fail(rq, result);
}

/* Reads a member of the body, if it is there; null: for ever. */
static void read_days(struct request *rq, const char *name, int64_t *days) {
    struct json given = json_get(rq->json, name);
    if (json_type(given) == JSON_NULL)
        *days = RETENTION_FOR_EVER;
    else if (json_is(given))
        json_integer(given, days);
}

static int patch_retention(struct request *rq) {
    struct store *store = rq->caller->store;
    struct store_retention retention;
    enum store_result result = store_find_retention(store, rq->caller->user.id, &retention);
    if (result != STORE_OK)
        return state_fail(rq, result);
    read_days(rq, "messageDays", &retention.message_days);
    read_days(rq, "rawDays", &retention.raw_days);
    request_release(rq); /* a view would hold an older state */
    result = store_set_retention(store, &retention, rq->now);
    return result == STORE_OK ? reply_retention(rq, &retention) : state_fail(rq, result);
}

/* --- /v2/contacts/:contactId/hold --- */

static int set_hold(struct request *rq, bool is_held) {
    struct store_hold hold = {.user_id = rq->caller->user.id,
                              .contact_id = request_segment(rq),
                              .is_held = is_held,
                              .now = rq->now};
    struct json_writer data;
    enum store_result result = store_hold_contact(rq->caller->store, &hold);
    if (result != STORE_OK)
        return fail_contact(rq, result);
    reply_start(rq, &data);
    json_write_time_or_null(&data, "heldAt", hold.held_at);
    return reply_object(rq, &data);
}

static int put_hold(struct request *rq) {
    return set_hold(rq, true);
}

static int delete_hold(struct request *rq) {
    return set_hold(rq, false);
}

/* --- POST /v2/contacts/:contactId/erase --- */

static const struct field erase_fields[] = {
    {.name = "confirm", .type = FIELD_STRING, .required = true},
    {0},
};

static int reply_erasure(struct request *rq, const struct store_erasure *erasure) {
    struct json_writer data;
    reply_start(rq, &data);
    json_write_text(&data, "contactId", erasure->contact_id);
    json_write_time(&data, "erasedAt", erasure->erased_at);
    json_write_time_or_null(&data, "endedAt", erasure->ended_at);
    return reply_object(rq, &data);
}

/* Fails for a contact that is not confirmed, or is not there. */
static int fail_confirm(struct request *rq, const char *id) {
    struct contact contact;
    enum store_result result =
        store_find_contact(rq->caller->store, rq->arena, &rq->caller->view, id, &contact);
    if (result != STORE_OK)
        return fail_contact(rq, result);
    return fail_on_issue(rq, "confirm", "invalid_value",
                         "must be the contact's id: an erasure cannot be undone");
}

static int post_erase(struct request *rq) {
    struct store *store = rq->caller->store;
    struct store_erasure erasure;
    const char *id = request_segment(rq);
    if (!slice_equal(json_string(json_get(rq->json, "confirm"), rq->arena), slice_of(id)))
        return fail_confirm(rq, id);
    request_release(rq); /* a view would hold an older state */
    enum store_result result =
        store_erase_contact(store, rq->arena, rq->caller->user.id, id, rq->now, &erasure);
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT,
                    "This contact is on hold: DELETE /v2/contacts/:contactId/hold ends that.");
    return result == STORE_OK ? reply_erasure(rq, &erasure) : fail_contact(rq, result);
}

/* --- POST /v2/contacts/:contactId/export --- */

static bool send_bytes(void *context, struct slice bytes) {
    return reply_more(context, bytes) == 0;
}

/* Begins the answer, whose document has this name as a file. */
static bool begin_export(struct request *rq, const char *name) {
    reply_header(rq, "Content-Disposition",
                 arena_printf(rq->arena, "attachment; filename=\"%s.json\"", name));
    return !reply_stream(rq, 200, REPLY_JSON, -1) &&
           !reply_more(rq, SLICE("{\"success\":true,\"data\":"));
}

/* The status is sent already when a failure arises: the document is then no valid JSON. */
static int end_export(struct request *rq, enum store_result result) {
    if (result != STORE_OK)
        return state_fail(rq, result);
    reply_more(rq, SLICE("}"));
    return 0;
}

static int stream_export(struct request *rq, const struct store_export *export) {
    const struct export_sink sink = {send_bytes, rq, NULL};
    if (!begin_export(rq, export->contact_id))
        return 0;
    return end_export(rq, export_write_contact(rq->caller->store, export, rq->now, &sink));
}

static int post_export(struct request *rq) {
    struct store *store = rq->caller->store;
    struct store_export export;
    enum store_result result =
        store_find_export(store, rq->arena, rq->caller->user.id, request_segment(rq), &export);
    if (result != STORE_OK)
        return fail_contact(rq, result);
    request_release(rq); /* a view would hold an older state */
    return trail_leave(rq, store, export.contact_id) ? -1 : stream_export(rq, &export);
}

/* --- POST /v2/export --- */

static int post_whole_export(struct request *rq) {
    const struct store_user *user = &rq->caller->user;
    const struct export_sink sink = {send_bytes, rq, NULL};
    request_release(rq); /* a view would hold an older state */
    if (trail_leave(rq, rq->caller->store, NULL))
        return -1;
    if (!begin_export(rq, user->id))
        return 0;
    return end_export(rq,
                      export_write_user(rq->caller->store, user->id, user->email, rq->now, &sink));
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "PUT", .path = "/v2/contacts/:contactId/block",
     .trail = "contact.block",
     .scope = SCOPE_INBOX, .lines = LINES_BY_CONTACT, .guard = &caller_guard,
     .handle = put_block, .fields = block_fields},
    {.method = "DELETE", .path = "/v2/contacts/:contactId/block",
     .trail = "contact.unblock",
     .scope = SCOPE_INBOX, .lines = LINES_BY_CONTACT, .guard = &caller_guard,
     .handle = delete_block, .query = block_fields},
    {.method = "PUT", .path = "/v2/contacts/:contactId/hold",
     .trail = "contact.hold",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = put_hold, .fields = field_none},
    {.method = "DELETE", .path = "/v2/contacts/:contactId/hold",
     .trail = "contact.release",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = delete_hold},
    {.method = "POST", .path = "/v2/contacts/:contactId/export",
     .trail = "contact.export",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_export, .fields = field_none},
    {.method = "POST", .path = "/v2/contacts/:contactId/erase",
     .trail = "contact.erase",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_erase, .fields = erase_fields},
    {.method = "POST", .path = "/v2/threads/:threadId/read",
     .trail = NO_TRAIL("a mark of the list"),
     .scope = SCOPE_INBOX, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = post_read, .fields = read_fields},
    {.method = "POST", .path = "/v2/threads/:threadId/unread",
     .trail = NO_TRAIL("a mark of the list"),
     .scope = SCOPE_INBOX, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = post_unread, .fields = field_none},
    {.method = "POST", .path = "/v2/threads/:threadId/done",
     .trail = "thread.done",
     .scope = SCOPE_INBOX, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = post_done, .fields = done_fields},
    {.method = "DELETE", .path = "/v2/threads/:threadId/done",
     .trail = "thread.undone",
     .scope = SCOPE_INBOX, .lines = LINES_BY_THREAD, .guard = &caller_guard, .handle = delete_done},
    {.method = "PUT", .path = "/v2/threads/:threadId/assignee",
     .trail = "thread.assign",
     .scope = SCOPE_INBOX, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = assignments_put, .fields = assignments_fields},
    {.method = "PUT", .path = "/v2/threads/:threadId/typing",
     .trail = NO_TRAIL("a hint of some seconds"),
     .scope = SCOPE_INBOX, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = typing_notices_put, .fields = field_none},
    {.method = "GET", .path = "/v2/threads/:threadId/notes",
     .scope = SCOPE_READ, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = notes_get, .query = notes_query},
    {.method = "POST", .path = "/v2/threads/:threadId/notes",
     .trail = "note.create",
     .scope = SCOPE_INBOX, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = notes_post, .fields = notes_fields},
    {.method = "DELETE", .path = "/v2/notes/:noteId",
     .trail = "note.delete",
     .scope = SCOPE_INBOX, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = notes_delete},
    {.method = "GET", .path = "/v2/replies",
     .scope = SCOPE_READ, .lines = LINES_NONE, .guard = &caller_guard, .handle = canned_replies_get,
     .query = canned_replies_query},
    {.method = "POST", .path = "/v2/replies",
     .trail = "reply.create",
     .scope = SCOPE_INBOX, .lines = LINES_NONE, .guard = &caller_guard,
     .handle = canned_replies_post, .fields = canned_replies_fields},
    {.method = "PATCH", .path = "/v2/replies/:replyId",
     .trail = "reply.update",
     .scope = SCOPE_INBOX, .lines = LINES_NONE, .guard = &caller_guard,
     .handle = canned_replies_patch, .fields = canned_replies_change_fields},
    {.method = "DELETE", .path = "/v2/replies/:replyId",
     .trail = "reply.delete",
     .scope = SCOPE_INBOX, .lines = LINES_NONE, .guard = &caller_guard,
     .handle = canned_replies_delete},
    {.method = "GET", .path = "/v2/retention",
     .scope = SCOPE_BASIC, .guard = &caller_guard, .handle = get_retention},
    {.method = "PATCH", .path = "/v2/retention",
     .trail = "retention.update",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = patch_retention,
     .fields = retention_fields},
    {.method = "POST", .path = "/v2/export",
     .trail = "workspace.export",
     .scope = SCOPE_OWNER, .guard = &fresh_guard, .handle = post_whole_export,
     .fields = field_none},
    {0},
};
/* clang-format on */

const struct service this_service = {
    .name = "inbox_write", .routes = routes, .needs = WRITES_DATABASE, .takes_rewrites = true};
