#include "api/request_trail.h"

#include "api/state.h"
#include "base/log.h"
#include "payload/trail_row.h"
#include "web/route.h"

enum { FIELDS_MOST = 30 }; /* names in a row */

/* The names of the members of the body that the route declares, and what the change itself says. */
static const char *write_details(struct request *rq, const struct store_deed *deed) {
    struct json_writer out;
    int count = 0;
    json_write_start_object(&out, rq->arena);
    if (rq->route->fields && json_type(rq->json) == JSON_OBJECT) {
        json_write_array(&out, "fields");
        for (const struct field *field = rq->route->fields; field->type && count < FIELDS_MOST;
             field++)
            if (field->name && json_is(json_get(rq->json, field->name)) && ++count)
                json_write_text(&out, NULL, field->name);
        json_write_end(&out);
    }
    deed_json_write(&out, deed);
    return arena_copy(rq->arena, json_written(&out));
}

static void describe(struct store_deed *deed) {
    struct request *rq = deed->context;
    deed->action = rq->trail;
    deed->details = write_details(rq, deed);
}

static void forget_deed(void) {
    store_begin_deed(NULL);
}

void trail_begin(struct request *rq, const char *actor, const char *actor_name) {
    if (!route_leaves_row(rq->trail) && strcmp(rq->trail ? rq->trail : "", TRAIL_BY_EDGE) != 0)
        return;
    struct store_deed *deed = arena_alloc(rq->arena, sizeof *deed);
    *deed = (struct store_deed){.actor = actor,
                                .actor_name = actor_name,
                                .address = request_client(rq),
                                .request_id = rq->id,
                                .now = rq->now,
                                .describe = describe,
                                .context = rq,
                                .arena = rq->arena,
                                .is_left = &rq->has_trail};
    id_make(deed->id, "trl_", rq->now);
    store_begin_deed(deed);
    rq->forget = forget_deed;
}

int trail_leave(struct request *rq, struct store *store, const char *object_id) {
    enum store_result result = store_leave_trail(store, rq->user_id, object_id);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

void trail_leave_after(struct request *rq, struct store *store, const char *object_id) {
    if (rq->has_trail || !route_leaves_row(rq->trail))
        return;
    request_release(rq);
    if (store_leave_trail(store, rq->user_id, object_id) != STORE_OK)
        log_message(LOG_ERROR, "request %s: %s was carried out but is not in the trail: %s", rq->id,
                    rq->trail, store_reason(store));
}
