/* Fetches pages of the platform's lists for a request (spec 2.5.1, 2.6). */
#ifndef SWITCHBOARD_API_LIST_H
#define SWITCHBOARD_API_LIST_H

#include "api/auth.h"
#include "graph/page.h"

/* Fetches one page with the account's platform access token. If `halves`, a page that is too large
 * for the platform is requested again with half the limit, down to 1, and `wanted->limit` is set to
 * the limit that was used. Returns 0, or -1 after failing the request by spec 7. */
int list_get_page(struct request *rq, const struct store_account *account,
                  struct graph_page_request *wanted, bool halves, struct graph_page *page);

#endif
