/* Pages of the platform's lists (spec 2.5.1, 2.6). */
#ifndef SWITCHBOARD_PAGE_H
#define SWITCHBOARD_PAGE_H

#include "auth.h"
#include "graph/graph.h"

/* A list of the platform's, such as the message_templates of a business account. */
struct page_request {
    const struct store_account *account;
    const char *edge;   /* message_templates, flows */
    const char *limit;  /* NULL: the platform's own */
    const char *after;  /* the cursor; NULL: the first page */
};

struct page {
    struct json items;  /* the array, its items untouched */
    struct json paging; /* absent where the platform sent none */
};

/* Gets one page. Returns 0, or fails the request by spec 7. */
int page_get(struct request *rq, const struct page_request *wanted, struct page *page);

/* The same, but a page that is too heavy for the platform ("reduce the amount of data", HTTP 500,
 * code 1) is asked for again with half the limit, down to 1; `*limit` is what was used. */
int page_get_halving(struct request *rq, const struct page_request *wanted, int *limit,
                     struct page *page);

/* The cursor of the next page; NULL after the last one. */
const char *page_next(struct request *rq, const struct page *page);

/* The page's `paging`, its own bytes, with any access_token taken out of `next`; empty when there
 * is none. */
struct slice page_paging(struct request *rq, const struct page *page);

#endif
