/* Many calls of the platform at a time, on one handle of libcurl's multi interface: a POST
 * is sent at most once, as by graph_call. */
#ifndef SWITCHBOARD_GRAPH_POST_H
#define SWITCHBOARD_GRAPH_POST_H

#include "graph/call.h"
#include "graph/transfer.h"

/* The owner of a call on the multi handle: CURLINFO_PRIVATE points to it. */
struct graph_owner {
    void (*ended)(struct graph_owner *owner, CURLM *multi, CURLcode code);
};

struct graph_post {
    CURL *curl; /* reused for the next POST; NULL: none yet */
    struct transfer transfer;
    struct graph_answer answer; /* valid after graph_post_end */
};

/* Starts the call on `multi`, for `owner`. What `call` points to must stay
 * valid until graph_post_end, and the memory of the answer is in `arena`. Returns false when it
 * cannot be started: the answer is then that of a call that was not sent. */
bool graph_post_start(struct graph_post *post, CURLM *multi, const struct config *config,
                      struct arena *arena, const struct graph_call *call,
                      struct graph_owner *owner);

/* Makes progress on all calls, without blocking, and calls the owners of those that have ended.
 * Returns their number. */
size_t graph_owners_advance(CURLM *multi);

/* Removes the POST from `multi` and fills its answer from libcurl's result `code`. */
void graph_post_end(struct graph_post *post, CURLM *multi, CURLcode code);

/* Frees the handle. */
void graph_post_free(struct graph_post *post);

#endif
