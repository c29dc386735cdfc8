#include "api/inbox/thread_work.h"

#include "api/auth.h"
#include "api/idempotency.h"
#include "api/paging.h"
#include "payload/person_json.h"
#include "store/assignment.h"
#include "store/note.h"
#include "store/typing.h"

int thread_fail(struct request *rq, enum store_result result) {
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND, "There is no thread with this id: GET /v2/threads lists them.");
    return state_fail(rq, result);
}

/* --- /v2/threads/:threadId/assignee --- */

const struct field assignments_fields[] = {
    {.name = "memberId", .type = FIELD_STRING, .required = true, .may_be_null = true},
    {.name = "from", .type = FIELD_STRING, .may_be_null = true},
    {0},
};

static struct slice write_assignee(struct request *rq, const struct actor *assignee) {
    struct json_writer data;
    json_write_start_object(&data, rq->arena);
    actor_json_write(&data, "assignee", assignee);
    return json_written(&data);
}

static int fail_member(struct request *rq) {
    return fail(rq, NOT_FOUND,
                "memberId names no member of this workspace who may answer on this line: "
                "GET /v2/members lists them.");
}

static int fail_taken(struct request *rq, const struct actor *assignee) {
    return fail_with_details(rq, CONFLICT, write_assignee(rq, assignee),
                             "Another member was quicker: the thread is assigned to %s.",
                             assignee->id ? assignee->name : "none");
}

/* A text with a NUL character names no member. */
static const char *read_member(struct request *rq, const char *name) {
    struct json given = json_get(rq->json, name);
    const char *id = json_text(given, rq->arena);
    return id ? id : json_type(given) == JSON_STRING ? "" : NULL;
}

int assignments_put(struct request *rq) {
    const struct store_assignment assignment = {
        .view = &rq->caller->view,
        .thread_id = arena_copy(rq->arena, rq->parameters[0]),
        .member_id = read_member(rq, "memberId"),
        .has_from = json_is(json_get(rq->json, "from")),
        .from = read_member(rq, "from"),
    };
    struct actor assignee;
    enum assignment_refusal refusal = ASSIGNMENT_NOT_REFUSED;
    enum store_result result =
        store_assign(rq->caller->store, rq->arena, &assignment, &assignee, &refusal);
    if (result != STORE_OK)
        return thread_fail(rq, result);
    if (refusal == ASSIGNMENT_NO_MEMBER)
        return fail_member(rq);
    if (refusal == ASSIGNMENT_TAKEN)
        return fail_taken(rq, &assignee);
    return reply_data(rq, write_assignee(rq, &assignee));
}

/* --- /v2/threads/:threadId/typing --- */

/* A token is no member, so others see nothing of it. */
int typing_notices_put(struct request *rq) {
    const char *member_id = rq->caller->session.member_id;
    struct json_writer data;
    enum store_result result =
        store_note_typing(rq->caller->store, &rq->caller->view,
                          arena_copy(rq->arena, rq->parameters[0]), member_id, rq->now);
    if (result != STORE_OK)
        return thread_fail(rq, result);
    reply_start(rq, &data);
    json_write_bool(&data, "noted", member_id != NULL);
    return reply_object(rq, &data);
}

/* --- /v2/threads/:threadId/notes, /v2/notes/:noteId --- */

const struct field notes_fields[] = {
    {.name = "text",
     .type = FIELD_STRING,
     .required = true,
     .rule = &field_text_rule,
     .example = "Wants an invoice."},
    {0},
};

const struct field notes_query[] = {PAGING_FIELDS, {0}};

static void write_note(struct json_writer *data, const struct store_note *note) {
    json_write_object(data, NULL);
    json_write_text(data, "id", note->id);
    json_write_text(data, "threadId", note->thread_id);
    json_write_text(data, "text", note->text);
    actor_json_write(data, "by", &note->by);
    json_write_time(data, "createdAt", note->created_at);
    json_write_end(data);
}

/* One note more than the limit shows that there are more. */
int notes_get(struct request *rq) {
    const struct caller *caller = rq->caller;
    const char *parts[2] = {NULL};
    struct store_note *notes;
    struct json_writer data;
    size_t count;
    if (cursor_read(rq, "after", "notes", parts, 2) < 0)
        return -1;
    enum store_result result =
        store_list_notes(caller->store, rq->arena, &caller->view, request_segment(rq), parts[1],
                         paging_limit(rq) + 1, &notes, &count);
    if (result != STORE_OK)
        return thread_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        write_note(&data, &notes[i]);
    parts[0] = "notes";
    parts[1] = has_more ? notes[count - 1].id : NULL;
    return paging_reply_cursor(rq, &data, has_more ? cursor_write(rq->arena, parts, 2) : NULL);
}

static int fail_note(struct request *rq, enum store_result result) {
    return state_fail_absent(
        rq, result, "There is no note with this id: GET /v2/threads/:threadId/notes lists them.");
}

/* Answers the note of the request; one that was deleted since is 404. */
static int reply_note(struct request *rq, const char *request_id, const void *none) {
    (void)none;
    const struct caller *caller = rq->caller;
    struct store_note note;
    struct json_writer data;
    enum store_result result = store_find_note(caller->store, rq->arena, &caller->view,
                                               idempotency_id(rq, "not_", request_id), &note);
    if (result != STORE_OK)
        return fail_note(rq, result);
    json_write_start(&data, rq->arena);
    write_note(&data, &note);
    return reply_data(rq, json_written(&data));
}

/* Adds the note, unless an earlier request with the same Idempotency-Key has done so. */
static int make_note(struct request *rq, const char *request_id, const void *none) {
    const struct caller *caller = rq->caller;
    struct store_note made;
    const struct store_note note = {
        .id = idempotency_id(rq, "not_", request_id),
        .thread_id = arena_copy(rq->arena, rq->parameters[0]),
        .text = json_text(json_get(rq->json, "text"), rq->arena),
        .by = caller->actor,
        .created_at = rq->now,
    };
    if (store_find_note(caller->store, rq->arena, &caller->view, note.id, &made) == STORE_OK) {
        rq->has_trail = true; /* by that request */
        return reply_note(rq, request_id, none);
    }
    enum store_result result = store_insert_note(caller->store, &caller->view, &note);
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT, "The thread has %d notes already; delete one.", NOTES_MAX);
    return result == STORE_OK ? reply_note(rq, request_id, none) : thread_fail(rq, result);
}

int notes_post(struct request *rq) {
    return idempotency_run(rq, make_note, reply_note);
}

/* Who may change webhooks deletes notes of others too. */
int notes_delete(struct request *rq) {
    const struct caller *caller = rq->caller;
    const char *by = caller->scopes & SCOPE_MANAGE ? NULL : caller->actor.id;
    enum store_result result =
        store_delete_note(caller->store, &caller->view, request_segment(rq), by);
    if (result == STORE_CONFLICT)
        return fail(rq, FORBIDDEN, "The note is of another member; an admin can delete it.");
    return result == STORE_OK ? reply_data(rq, SLICE("{\"deleted\":true}")) : fail_note(rq, result);
}
