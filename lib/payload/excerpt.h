/* Excerpts of JSON values, made of their original bytes: escapes, numbers, the order of members and
 * the white space between what is kept stay as they are. An excerpt is valid JSON. It is written as
 * the recipe by which the store makes the bytes (store/forward_parts.h). */
#ifndef SWITCHBOARD_PAYLOAD_EXCERPT_H
#define SWITCHBOARD_PAYLOAD_EXCERPT_H

#include "base/json.h"

struct excerpt_edit;

/* A value to keep: unchanged, or an object with edited members. */
struct excerpt_value {
    struct json value;
    const struct excerpt_edit *edits; /* of an object */
    size_t edit_count;
};

/* An edit of the member `name` of an object, whose value is `value`, as json_get finds it. Other
 * members with this name are left out. */
struct excerpt_edit {
    const char *name;
    struct json value;                  /* absent: the member is left out too; else it is */
    const struct excerpt_value *object; /* an object, which is kept so; or NULL, */
    const struct excerpt_value *items;  /* and an array, which keeps these items, in their order */
    size_t item_count;
};

/* A recipe in progress, and the piece of the text that is not written to it yet. */
struct excerpt {
    struct buffer recipe;
    struct slice text, pending;
};

/* Starts a recipe, in `arena`, of values of `text`. */
struct excerpt excerpt_start(struct arena *arena, struct slice text);

/* Appends literal text, a value, and values separated by commas. */
void excerpt_add_text(struct excerpt *excerpt, struct slice text);
void excerpt_add_value(struct excerpt *excerpt, const struct excerpt_value *value);
void excerpt_add_list(struct excerpt *excerpt, const struct excerpt_value *items, size_t count);

/* Returns the recipe. */
const char *excerpt_end(struct excerpt *excerpt);

#endif
