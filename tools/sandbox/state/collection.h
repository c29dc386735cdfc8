/* The items of the lists that the platform returns in pages: templates, flows, QR codes. Items are
 * stored and returned byte for byte. All calls are made under the lock of the state, those that
 * change it under the write lock. */
#ifndef SANDBOX_COLLECTION_H
#define SANDBOX_COLLECTION_H

#include "state/account.h"

struct item {
    int64_t serial;    /* grows with each item: the order of the list */
    const char *owner; /* the id of an account, or of the number that the item belongs to */
    const char *id;
    struct slice raw; /* the item's JSON */
};

struct collection {
    /* Appends the i-th generated item as JSON. */
    void (*make)(struct buffer *out, const char *prefix, int64_t i);
    struct arena *arena; /* of the items; NULL: there are none */
    struct item *items;
    size_t count;
    size_t capacity;
    int64_t last_serial;
    size_t waste; /* bytes of replaced and removed items, which the arena still holds */
};

/* Adds the items of a control call: {wabaId, items: [...], generate: {count, ...}, replace}; `call`
 * is valid JSON. Returns NULL, or in `arena` the text of an error; the items before the wrong one
 * are added then. */
const char *collection_put(struct arena *arena, struct collection *collection, struct slice call);

/* Append every item as a body: {wabaId, items: [item]}, for collection_put; or {owner, id, item},
 * for collection_restore, with base64 in place of an item that is no JSON. */
void collection_print(struct buffer *out, const struct collection *collection);
void collection_save(struct buffer *out, const struct collection *collection);

/* Adds the item of such a body; `call` is valid JSON. Returns NULL, or the text of an error. */
const char *collection_restore(struct arena *arena, struct collection *collection,
                               struct slice call);

/* Returns the item with this id, or NULL. */
const struct item *collection_find(const struct collection *collection, const char *id);

/* Returns the account of the item with this id, or NULL. */
const struct account *collection_owner(const struct collection *collection, const char *id);

/* Adds an item after all others. The texts are copied. */
void collection_insert(struct collection *collection, const char *owner, const char *id,
                       struct slice raw);

/* Replaces the JSON of the item with this id, which keeps its place. */
void collection_replace(struct collection *collection, const char *id, struct slice raw);

/* Deletes the item with this id, if there is one. */
void collection_remove(struct collection *collection, const char *id);

/* Returns the number of the owner's items. */
size_t collection_count(const struct collection *collection, const char *owner);

/* Deletes the items of one owner, or with NULL all. */
void collection_clear(struct collection *collection, const char *owner);

#endif
