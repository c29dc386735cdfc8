#include "api/inbox/notes.h"

#include "api/auth.h"
#include "api/idempotency.h"
#include "api/inbox/thread_failure.h"
#include "api/list_cursor.h"
#include "api/paging.h"
#include "payload/person_json.h"
#include "store/note.h"

static const char *text_problem(struct slice text) {
    return memchr(text.p, '\0', text.n) ? "must hold no NUL character" : NULL;
}

static const struct text_rule text_rule = {
    .meaning = "a text of at most 16,384 bytes without NUL characters",
    .pattern = "^[^\\u0000]*$",
    .longest = 16384,
    .check = text_problem};

const struct field notes_fields[] = {
    {.name = "text",
     .type = FIELD_STRING,
     .required = true,
     .rule = &text_rule,
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
    const size_t limit = paging_limit(rq);
    const char *parts[2] = {NULL};
    struct store_note *notes;
    struct json_writer data;
    size_t count;
    if (cursor_read(rq, "after", "notes", parts, 2) < 0)
        return -1;
    enum store_result result = store_list_notes(caller->store, rq->arena, &caller->view,
                                                arena_copy(rq->arena, rq->parameters[0]), parts[1],
                                                limit + 1, &notes, &count);
    if (result != STORE_OK)
        return thread_fail(rq, result);
    const bool has_more = count > limit;
    paging_start(rq, &data);
    for (size_t i = 0; i < count - has_more; i++)
        write_note(&data, &notes[i]);
    parts[0] = "notes";
    parts[1] = has_more ? notes[limit - 1].id : NULL;
    return paging_reply_cursor(rq, &data, has_more ? cursor_write(rq->arena, parts, 2) : NULL);
}

static int fail_note(struct request *rq, enum store_result result) {
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND,
                    "There is no note with this id: GET /v2/threads/:threadId/notes lists them.");
    return state_fail(rq, result);
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
    enum store_result result = store_delete_note(caller->store, &caller->view,
                                                 arena_copy(rq->arena, rq->parameters[0]), by);
    if (result == STORE_CONFLICT)
        return fail(rq, FORBIDDEN, "The note is of another member; an admin can delete it.");
    return result == STORE_OK ? reply_data(rq, SLICE("{\"deleted\":true}")) : fail_note(rq, result);
}
