#include "api/team/line_choice.h"

#include "api/auth.h"

/* Adds the line of the id to those that are given. */
static int read_line(struct request *rq, struct issues *issues, const char *id,
                     struct buffer *given) {
    struct line line;
    enum store_result result =
        id ? store_find_line_by_id(rq->caller->store, rq->arena, &rq->caller->view, id, &line)
           : STORE_NOT_FOUND;
    if (result == STORE_NOT_FOUND)
        issues_add(issues, "lineIds", "invalid_value",
                   "must hold ids of your lines: GET /v2/lines lists them");
    else if (result != STORE_OK)
        return state_fail(rq, result);
    else if (slice_has_word(buffer_slice(given), ' ', slice_of(id)))
        issues_add(issues, "lineIds", "invalid_value", "must hold each line once");
    else
        buffer_printf(given, "%s%s", given->n ? " " : "", line.id);
    return 0;
}

int line_choice_read(struct request *rq, struct issues *issues, const char **ids) {
    const struct json list = json_get(rq->json, "lineIds");
    struct buffer given = buffer_in(rq->arena);
    *ids = NULL;
    if (json_type(list) != JSON_ARRAY) {
        if (rq->caller->view.line_ids)
            issues_add(issues, "lineIds", "invalid_value",
                       "must hold some of your lines: you do not have all");
        return 0;
    }
    for (struct json item = json_first(list); json_is(item); item = json_next(item))
        if (read_line(rq, issues, json_text(item, rq->arena), &given))
            return -1;
    *ids = buffer_slice(&given).p;
    return 0;
}
