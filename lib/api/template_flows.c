#include "api/template_flows.h"

#include "base/log.h"
#include "store/flow.h"

/* The id of the flow that a button of the template opens; NULL when there is none. */
static const char *flow_of(struct request *rq, struct json template) {
    struct json components = json_get(template, "components");
    for (struct json c = json_first(components); json_is(c); c = json_next(c)) {
        struct json buttons = json_get(c, "buttons");
        for (struct json b = json_first(buttons); json_is(b); b = json_next(b)) {
            struct json id = json_get(b, "flow_id"); /* a string or a number */
            if (json_type(id) == JSON_NUMBER)
                return arena_copy(rq->arena, json_raw(id));
            if (json_text(id, rq->arena))
                return json_text(id, rq->arena);
        }
    }
    return NULL;
}

void template_flows_save(struct request *rq, const struct store_account *account,
                         struct json items) {
    struct store_template_flow *rows =
        arena_alloc(rq->arena, (json_count(items) + 1) * sizeof *rows);
    size_t n = 0;
    for (struct json t = json_first(items); json_is(t); t = json_next(t)) {
        rows[n].name = json_text(json_get(t, "name"), rq->arena);
        rows[n].language = json_text(json_get(t, "language"), rq->arena);
        rows[n].flow_id = flow_of(rq, t);
        n += rows[n].name && rows[n].language && rows[n].flow_id;
    }
    struct store *store = rq->caller->store;
    if (n && store_upsert_template_flows(store, account->id, rows, n, rq->now) != STORE_OK)
        log_message(LOG_ERROR, "request %s: flows of templates were not stored: %s", rq->id,
                    store_reason(store));
}
