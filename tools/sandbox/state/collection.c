#include "state/collection.h"

#include "base/crypto.h"
#include "text/json_print.h"
#include "text/memory.h"
#include "text/strict_json.h"

/* Unused bytes beyond which the items that there are are copied. */
enum { WASTE_MAX = 1 << 20 };

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
                      .owner = arena_copy(arena, slice_of(item->owner)),
                      .id = arena_copy(arena, slice_of(item->id)),
                      .raw = {arena_copy(arena, item->raw), item->raw.n}};
}

void collection_insert(struct collection *collection, const char *owner, const char *id,
                       struct slice raw) {
    struct item item = {++collection->last_serial, owner, id, raw};
    item_append(collection, &item);
}

static const char *item_add(struct arena *arena, struct collection *collection, const char *waba_id,
                            struct slice raw) {
    const char *id = json_member_text(arena, raw, "id");
    if (!id)
        return "every item needs an id, a string";
    collection_insert(collection, waba_id, id, raw);
    return NULL;
}

/* Copies the items that are not of `owner` (NULL: that are of any), so that the memory of the
 * others is freed. */
static void items_copy(struct collection *collection, const char *owner) {
    struct collection old = *collection;
    collection->arena = NULL;
    collection->items = NULL;
    collection->count = collection->capacity = collection->waste = 0;
    for (size_t i = 0; i < old.count; i++)
        if (!owner || strcmp(old.items[i].owner, owner) != 0)
            item_append(collection, &old.items[i]);
    memory_close(old.arena);
}

void collection_clear(struct collection *collection, const char *owner) {
    if (!owner)
        collection->count = 0;
    items_copy(collection, owner);
}

/* Counts the bytes that became unused, and frees them when they are many. */
static void waste_add(struct collection *collection, size_t bytes) {
    collection->waste += bytes;
    if (collection->waste > WASTE_MAX)
        items_copy(collection, NULL);
}

void collection_replace(struct collection *collection, const char *id, struct slice raw) {
    for (size_t i = 0; i < collection->count; i++) {
        struct item *item = &collection->items[i];
        if (strcmp(item->id, id) == 0) {
            size_t bytes = item->raw.n;
            item->raw = (struct slice){arena_copy(collection->arena, raw), raw.n};
            waste_add(collection, bytes);
            return;
        }
    }
}

void collection_remove(struct collection *collection, const char *id) {
    for (size_t i = 0; i < collection->count; i++) {
        struct item *item = &collection->items[i];
        if (strcmp(item->id, id) == 0) {
            size_t bytes = item->raw.n + sizeof *item;
            collection->count--;
            memmove(item, item + 1, (collection->count - i) * sizeof *item);
            waste_add(collection, bytes);
            return;
        }
    }
}

size_t collection_count(const struct collection *collection, const char *owner) {
    size_t count = 0;
    for (size_t i = 0; i < collection->count; i++)
        count += strcmp(collection->items[i].owner, owner) == 0;
    return count;
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

void collection_print(struct buffer *out, const struct collection *collection) {
    for (size_t i = 0; i < collection->count; i++) {
        buffer_add_text(out, i == 0 ? "{\"wabaId\":" : ",\n{\"wabaId\":");
        json_quote_text(out, collection->items[i].owner);
        buffer_add_text(out, ",\"items\":[");
        buffer_add_slice(out, collection->items[i].raw);
        buffer_add_text(out, "]}");
    }
}

void collection_save(struct buffer *out, const struct collection *collection) {
    struct arena *arena = memory_open();
    for (size_t i = 0; i < collection->count; i++) {
        const struct item *item = &collection->items[i];
        buffer_add_text(out, i == 0 ? "{\"owner\":" : ",\n{\"owner\":");
        json_quote_text(out, item->owner);
        buffer_add_text(out, ",\"id\":");
        json_quote_text(out, item->id);
        if (json_valid(item->raw)) {
            buffer_add_text(out, ",\"item\":");
            buffer_add_slice(out, item->raw);
        } else {
            buffer_add_text(out, ",\"base64\":");
            json_quote_text(out, crypto_base64(arena, item->raw.p, item->raw.n));
        }
        buffer_add_char(out, '}');
    }
    memory_close(arena);
}

const char *collection_restore(struct arena *arena, struct collection *collection,
                               struct slice call) {
    const char *owner = json_member_text(arena, call, "owner");
    const char *id = json_member_text(arena, call, "id");
    const char *base64 = json_member_text(arena, call, "base64");
    struct slice raw = base64 ? crypto_unbase64(arena, slice_of(base64)) : (struct slice){NULL, 0};
    if (!owner || !id || (!base64 && !json_member(call, "item", &raw)) || !raw.p)
        return "owner, id, and item or base64 are needed";
    collection_insert(collection, owner, id, raw);
    return NULL;
}

const struct item *collection_find(const struct collection *collection, const char *id) {
    for (size_t i = 0; i < collection->count; i++)
        if (strcmp(collection->items[i].id, id) == 0)
            return &collection->items[i];
    return NULL;
}

const struct account *collection_owner(const struct collection *collection, const char *id) {
    const struct item *item = collection_find(collection, id);
    return item ? account_by_waba(item->owner) : NULL;
}
