/* Pages of the platform's lists: the path of the request for a page, and its answer. */
#ifndef SWITCHBOARD_GRAPH_PAGE_H
#define SWITCHBOARD_GRAPH_PAGE_H

#include "base/json.h"
#include "graph/call.h"

/* A page of a list of a business account. */
struct graph_page_request {
    const char *waba_id;
    const char *edge;   /* message_templates, flows */
    const char *fields; /* of each item, percent-encoded; NULL: the platform's choice */
    const char *name;   /* a part of the names of the items; NULL: all */
    int64_t limit;      /* items per page; 0: the platform's default */
    const char *after;  /* the cursor; NULL: the first page */
};

struct graph_page {
    struct json items;  /* the array, unchanged */
    struct json paging; /* absent when the platform sent none */
};

/* Returns the path of the GET call for the page, in `arena`. */
char *graph_page_path(struct arena *arena, const struct graph_page_request *wanted);

/* Returns true and halves `wanted->limit` when the platform refused the page as too large (HTTP 500
 * with code 1, "reduce the amount of data you're asking for"): the caller can then repeat the call.
 * False for any other answer, and when the limit is 1 already. */
bool graph_page_halve(struct arena *arena, const struct graph_answer *answer,
                      struct graph_page_request *wanted);

/* Reads the page from an answer. Returns false when the answer contains no list. */
bool graph_page_read(struct json answer, struct graph_page *page);

/* Returns the cursor of the next page, in `arena`; NULL when `page` is the last one. */
const char *graph_page_next(struct arena *arena, const struct graph_page *page);

/* Returns the page's `paging` without the platform access token in its links; all other bytes are
 * unchanged. Empty when the page has no `paging`. */
struct slice graph_page_paging(struct arena *arena, const struct graph_page *page);

#endif
