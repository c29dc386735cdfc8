/* Pages of the platform's lists, for a request (spec 2.5.1, 2.6). */
#ifndef SWITCHBOARD_PAGE_H
#define SWITCHBOARD_PAGE_H

#include "api/auth.h"
#include "graph/page.h"

/* The query's `limit`, which the fields of the route have checked; `preset` when it has none. */
int64_t page_limit(struct request *rq, int64_t preset);

/* Gets one page with the account's token. Returns 0, or fails the request by spec 7. */
int page_get(struct request *rq, const struct store_account *account,
             const struct graph_page_request *wanted, struct graph_page *page);

/* The same, but a page that is too heavy for the platform is asked for again with half the limit,
 * down to 1; `wanted->limit` is what was used. */
int page_get_halving(struct request *rq, const struct store_account *account,
                     struct graph_page_request *wanted, struct graph_page *page);

#endif
