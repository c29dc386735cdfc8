#include "api/inbox/assignments.h"

#include "api/auth.h"
#include "api/inbox/thread_failure.h"
#include "payload/person_json.h"
#include "store/assignment.h"

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
