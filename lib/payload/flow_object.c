#include "payload/flow_object.h"

bool flow_read(struct arena *arena, struct json object, struct store_flow *flow) {
    const char *status = json_text(json_get(object, "status"), arena);
    struct json validation = json_get(object, "validation_errors");
    *flow = (struct store_flow){
        .flow_id = json_text(json_get(object, "id"), arena),
        .name = json_text(json_get(object, "name"), arena),
        .status = status ? status : "",
        .validation = json_type(validation) == JSON_ARRAY ? json_raw(validation) : SLICE("[]"),
    };
    return flow->flow_id && *flow->flow_id && flow->name;
}

size_t flow_read_all(struct arena *arena, struct json items, struct store_flow **flows) {
    size_t n = 0;
    *flows = arena_alloc(arena, (json_count(items) + 1) * sizeof **flows);
    for (struct json item = json_first(items); json_is(item); item = json_next(item))
        n += flow_read(arena, item, &(*flows)[n]);
    return n;
}
