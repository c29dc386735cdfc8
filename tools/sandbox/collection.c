#include "collection.h"

#include "memory.h"
#include "strict_json.h"

static void item_append(struct collection *collection, const struct item *item) {
    if (!collection->arena)
        collection->arena = memory_open();
    if (collection->count == collection->capacity) {
        size_t capacity = collection->capacity ? collection->capacity * 2 : 64;
        collection->items =
            arena_grow(collection->arena, collection->items, collection->capacity * sizeof *item,
                       capacity * sizeof *item);
        collection->capacity = capacity;
    }
    struct arena *arena = collection->arena;
    collection->items[collection->count++] =
        (struct item){.serial = item->serial,
                      .waba_id = arena_copy(arena, slice_of(item->waba_id)),
                      .id = arena_copy(arena, slice_of(item->id)),
                      .raw = {arena_copy(arena, item->raw), item->raw.n}};
}

static const char *item_add(struct arena *arena, struct collection *collection, const char *waba_id,
                            struct slice raw) {
    struct item item = {.waba_id = waba_id, .id = json_member_text(arena, raw, "id"), .raw = raw};
    if (!item.id)
        return "every item needs an id, a string";
    item.serial = ++collection->last_serial;
    item_append(collection, &item);
    return NULL;
}

/* The items that stay are copied, so that the memory of the others is freed. */
void collection_clear(struct collection *collection, const char *waba_id) {
    struct collection old = *collection;
    collection->arena = NULL;
    collection->items = NULL;
    collection->count = collection->capacity = 0;
    for (size_t i = 0; waba_id && i < old.count; i++)
        if (strcmp(old.items[i].waba_id, waba_id) != 0)
            item_append(collection, &old.items[i]);
    memory_close(old.arena);
}

struct generation {
    int64_t count;
    int64_t start;
    const char *prefix;
};

static const struct json_field generation_fields[] = {
    {"count", JSON_NUMBER, offsetof(struct generation, count)},
    {"start", JSON_NUMBER, offsetof(struct generation, start)},
    {"prefix", JSON_TEXT, offsetof(struct generation, prefix)},
    {NULL, JSON_ELSEWHERE, 0},
};

static const char *generate_items(struct arena *arena, struct collection *collection,
                                  const char *waba_id, const cJSON *generate) {
    struct generation generation = {.start = 1};
    const char *problem = json_fill(arena, &generation, generation_fields, generate);
    const char *prefix = generation.prefix ? generation.prefix : "bulk_";
    struct buffer raw = buffer_in(arena);
    for (int64_t i = 0; !problem && i < generation.count; i++) {
        raw.n = 0;
        collection->make(&raw, prefix, generation.start + i);
        problem = item_add(arena, collection, waba_id, buffer_slice(&raw));
    }
    return problem;
}

static const char *put_items(struct arena *arena, struct collection *collection, const cJSON *json,
                             struct slice call) {
    const char *waba_id = json_text(json, "wabaId");
    const cJSON *generate = json_get(json, "generate");
    const char *problem = NULL;
    struct slice items, raw;
    size_t cursor = 0;
    if (!waba_id || !account_by_waba(waba_id))
        return "wabaId of a known account is needed";
    if (cJSON_IsTrue(json_get(json, "replace")))
        collection_clear(collection, waba_id);
    if (json_member(call, "items", &items))
        while (!problem && json_element(items, &cursor, &raw))
            problem = item_add(arena, collection, waba_id, raw);
    return !problem && generate ? generate_items(arena, collection, waba_id, generate) : problem;
}

const char *collection_put(struct arena *arena, struct collection *collection, struct slice call) {
    cJSON *json = cJSON_ParseWithLength(call.p, call.n);
    const char *problem = put_items(arena, collection, json, call);
    cJSON_Delete(json);
    return problem;
}

const struct item *collection_find(const struct collection *collection, const char *id) {
    for (size_t i = 0; i < collection->count; i++)
        if (strcmp(collection->items[i].id, id) == 0)
            return &collection->items[i];
    return NULL;
}

const struct account *collection_owner(const struct collection *collection, const char *id) {
    const struct item *item = collection_find(collection, id);
    return item ? account_by_waba(item->waba_id) : NULL;
}
