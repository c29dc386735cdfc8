/* Pages of the platform's lists: how one is asked for, and what its answer holds. */
#ifndef SWITCHBOARD_GRAPH_PAGE_H
#define SWITCHBOARD_GRAPH_PAGE_H

#include "base/json.h"
#include "graph/graph.h"

/* Which page of which list of a business account. */
struct graph_page_request {
    const char *waba_id;
    const char *edge;  /* message_templates, flows */
    int64_t limit;     /* items; 0: as many as the platform likes */
    const char *after; /* the cursor; NULL: the first page */
};

struct graph_page {
    struct json items;  /* the array, its items untouched */
    struct json paging; /* absent where the platform sent none */
};

/* The path of the GET call that gets the page, in `arena`. */
char *graph_page_path(struct arena *arena, const struct graph_page_request *wanted);

/* Whether the page was too heavy for the platform (HTTP 500 with code 1, "reduce the amount of data
 * you're asking for"); then the limit is halved and the page can be asked for again. False once the
 * limit is 1. */
bool graph_page_halve(struct arena *arena, const struct graph_answer *answer,
                      struct graph_page_request *wanted);

/* Reads the answer. False when it holds no list. */
bool graph_page_read(struct json answer, struct graph_page *page);

/* The cursor of the page after this one, in `arena`; NULL after the last one. */
const char *graph_page_next(struct arena *arena, const struct graph_page *page);

/* The page's `paging` with the platform access token taken out of its links; every other byte
 * stays. Empty when there is none. */
struct slice graph_page_paging(struct arena *arena, const struct graph_page *page);

#endif
