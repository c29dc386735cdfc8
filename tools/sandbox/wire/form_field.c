#include "wire/form_field.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 16 };

/* Returns the value of a hexadecimal digit, or -1. */
static int hex_digit(char c) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c == '\0' ? NULL : strchr(digits, c);
    return at ? (int)(at - digits) % 16 : -1;
}

const char *form_decode(struct arena *arena, struct slice text) {
    char *decoded = arena_copy(arena, text), *end = decoded;
    for (const char *at = decoded; *at != '\0'; at++) {
        int high = *at == '%' ? hex_digit(at[1]) : -1, low = high < 0 ? -1 : hex_digit(at[2]);
        *end++ = low >= 0 ? (char)(high * 16 + low) : *at == '+' ? ' ' : *at;
        at += low >= 0 ? 2 : 0;
    }
    *end = '\0';
    return decoded;
}

/* The keys of a name: "a[b][]" has the keys "a", "b" and "". */
struct keys {
    const char *key[DEPTH_MAX];
    size_t count;
};

/* Splits `name`. Returns false when it does not have that form. */
static bool split_name(struct arena *arena, const char *name, struct keys *keys) {
    size_t length = strcspn(name, "[");
    keys->key[0] = arena_copy(arena, (struct slice){name, length});
    keys->count = 1;
    for (name += length; *name == '['; name += length + 2) {
        length = strcspn(name + 1, "]");
        if (name[1 + length] != ']' || keys->count == DEPTH_MAX)
            return false;
        keys->key[keys->count++] = arena_copy(arena, (struct slice){name + 1, length});
    }
    return *name == '\0' && *keys->key[0] != '\0';
}

/* Whether the key is that of an array: digits, or nothing. */
static bool is_index(const char *key) {
    return strspn(key, "0123456789") == strlen(key);
}

static cJSON *child_find(const cJSON *parent, const char *key) {
    if (cJSON_IsObject(parent))
        return cJSON_GetObjectItemCaseSensitive(parent, key);
    return *key == '\0' ? NULL : cJSON_GetArrayItem(parent, (int)strtol(key, NULL, 10));
}

/* Adds `child` to `parent` below `key`, or deletes it when that is not possible. Returns the child,
 * or NULL. */
static cJSON *child_add(cJSON *parent, const char *key, cJSON *child) {
    bool next = cJSON_IsArray(parent) && is_index(key) &&
                (*key == '\0' || strtol(key, NULL, 10) == cJSON_GetArraySize(parent));
    bool added = cJSON_IsObject(parent) ? cJSON_AddItemToObject(parent, key, child)
                                        : next && cJSON_AddItemToArray(parent, child);
    if (added)
        return child;
    cJSON_Delete(child);
    return NULL;
}

void form_field_put(struct arena *arena, cJSON *object, const char *name, const char *value) {
    struct keys keys;
    cJSON *parent = object;
    if (!split_name(arena, name, &keys))
        return;
    for (size_t i = 0; parent && i + 1 < keys.count; i++) {
        cJSON *child = child_find(parent, keys.key[i]);
        parent = child ? child
                       : child_add(parent, keys.key[i],
                                   is_index(keys.key[i + 1]) ? cJSON_CreateArray()
                                                             : cJSON_CreateObject());
    }
    if (parent && !child_find(parent, keys.key[keys.count - 1]))
        child_add(parent, keys.key[keys.count - 1], cJSON_CreateString(value));
}
