/* The lists that the platform returns in pages: templates and flows. Items are stored and returned
 * byte for byte. All calls are made under the state lock. */
#ifndef SANDBOX_COLLECTION_H
#define SANDBOX_COLLECTION_H

#include "accounts.h"
#include "exchange.h"

struct item {
    uint64_t serial; /* grows with each item: the order of the list */
    char *waba_id;
    char *id;
    char *raw;
    size_t length;
};

struct collection {
    const char *edge;
    const char *default_fields; /* comma-separated; NULL gives out the whole item */
    struct item *items;
    size_t count;
    size_t capacity;
    uint64_t last_serial;
};

/* Adds the items of a control call: {wabaId, items: [...], generate: {count, ...}, replace}. `make`
 * appends the i-th generated item as JSON. Returns NULL, or an error text that the caller frees. */
char *collection_put(struct collection *collection, struct slice call,
                     void (*make)(struct bytes *out, const char *prefix, uint64_t i));

/* Adds the objects of a JSON array to an account's list. Returns NULL, or an error text that the
 * caller frees. */
char *collection_add(struct collection *collection, const char *waba_id, struct slice items);

struct slice item_slice(const struct item *item);
const struct item *collection_find(const struct collection *collection, const char *id);
const struct account *collection_owner(const struct collection *collection, const char *id);

/* Deletes all items, or those of one account. */
void collection_clear(struct collection *collection, const char *waba_id);

struct page_rules {
    uint64_t cap; /* largest page, 0 = none */
    bool silent;  /* a limit above the cap is lowered; else it is error 1 */
    bool (*wanted)(const struct exchange *exchange, struct slice item); /* or NULL */
};

/* Answers with a page of an account's items, by limit, after, before and fields of the query. */
void collection_page(struct exchange *exchange, const struct collection *collection,
                     const struct account *account, const struct page_rules *rules);

/* Appends the item with the fields that the query selects. */
void item_print(struct exchange *exchange, const struct collection *collection,
                const struct item *item);

#endif
