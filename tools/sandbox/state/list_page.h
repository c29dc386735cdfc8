/* The pages in which the platform returns a collection, and the choice of fields. All calls are
 * made under the lock of the state. */
#ifndef SANDBOX_LIST_PAGE_H
#define SANDBOX_LIST_PAGE_H

#include "state/collection.h"
#include "wire/node_fields.h"

struct page_rules {
    int64_t cap; /* largest page, 0 = none */
    bool silent; /* a limit above the cap is lowered; else it is error 1 */
    const struct node_shape *shape;
    /* Whether the query selects the item; NULL: it selects all. */
    bool (*wanted)(const struct exchange *exchange, struct slice item);
    /* Returns the item as a whole JSON object; NULL: its own JSON is that. */
    struct slice (*whole)(struct exchange *exchange, const struct item *item);
};

/* Answers with a page of an owner's items, by limit, after, before and fields of the query. */
void list_page(struct exchange *exchange, const struct collection *collection, const char *owner,
               const struct page_rules *rules);

/* Appends the item to the answer, with the fields that the query selects. Returns false after
 * answering with an error. */
bool list_item(struct exchange *exchange, const struct item *item, const struct page_rules *rules);

#endif
