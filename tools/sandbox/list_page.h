/* The pages in which the platform returns a collection, and the choice of fields. All calls are
 * made under the lock of the state. */
#ifndef SANDBOX_LIST_PAGE_H
#define SANDBOX_LIST_PAGE_H

#include "collection.h"
#include "exchange.h"

struct page_rules {
    int64_t cap; /* largest page, 0 = none */
    bool silent; /* a limit above the cap is lowered; else it is error 1 */
    /* Whether the query selects the item; NULL: it selects all. */
    bool (*wanted)(const struct exchange *exchange, struct slice item);
};

/* Answers with a page of an account's items, by limit, after, before and fields of the query. */
void list_page(struct exchange *exchange, const struct collection *collection,
               const struct account *account, const struct page_rules *rules);

/* Appends the item to the answer, with the fields that the query selects; without fields with the
 * default fields of the collection, or whole when it has none. The id is always included. */
void list_item(struct exchange *exchange, const struct collection *collection,
               const struct item *item);

#endif
