#include "state/node_state.h"

#include "state/collection.h"
#include "text/json_print.h"
#include "text/memory.h"

/* The owner of an item is the node, its id `KIND/NODE`. */
struct collection node_states;

static const char *state_id(struct arena *arena, const char *kind, const char *id) {
    return arena_printf(arena, "%s/%s", kind, id);
}

cJSON *node_state_read(const char *kind, const char *id, const char *initial) {
    struct arena *arena = memory_open();
    const struct item *item = collection_find(&node_states, state_id(arena, kind, id));
    cJSON *object = item ? cJSON_ParseWithLength(item->raw.p, item->raw.n) : cJSON_Parse(initial);
    memory_close(arena);
    return object;
}

bool node_state_write(const char *kind, const char *id, const cJSON *object) {
    struct arena *arena = memory_open();
    struct buffer raw = buffer_in(arena);
    const char *name = state_id(arena, kind, id);
    json_print(&raw, object);
    bool fits = raw.n <= NODE_STATE_MAX;
    if (fits && collection_find(&node_states, name))
        collection_replace(&node_states, name, buffer_slice(&raw));
    else if (fits)
        collection_insert(&node_states, id, name, buffer_slice(&raw));
    memory_close(arena);
    return fits;
}

void node_state_delete(const char *kind, const char *id) {
    struct arena *arena = memory_open();
    collection_remove(&node_states, state_id(arena, kind, id));
    memory_close(arena);
}

void node_state_print(struct buffer *out, const char *id) {
    char before = '{';
    for (size_t i = 0; i < node_states.count; i++) {
        const struct item *item = &node_states.items[i];
        if (strcmp(item->owner, id) != 0)
            continue;
        buffer_printf(out, "%c\"%.*s\":", before, (int)strcspn(item->id, "/"), item->id);
        buffer_add_slice(out, item->raw);
        before = ',';
    }
    buffer_add_text(out, before == '{' ? "{}" : "}");
}

void node_state_clear(void) {
    collection_clear(&node_states, NULL);
}
