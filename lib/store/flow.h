/* Flows (forms) as stored rows, and the flows that templates open (spec 2.6, 4.5). */
#ifndef SWITCHBOARD_STORE_FLOW_H
#define SWITCHBOARD_STORE_FLOW_H

#include "store/store.h"

struct store_flow {
    const char *flow_id, *account_id, *name, *status;
    struct slice validation; /* JSON array */
    int64_t created_at, updated_at;
    int64_t responses; /* flow replies received */
};

/* Upserts the account's flows as the platform lists them; rows without a change are not written.
 * Works in `arena`. */
enum store_result store_upsert_flows(struct store *store, struct arena *arena,
                                     const char *account_id, const struct store_flow *flows,
                                     size_t count, int64_t now);

/* Deletes the account's row of the flow, if there is one. The answers to the flow stay. */
enum store_result store_delete_flow(struct store *store, const char *account_id,
                                    const char *flow_id);

/* Lists the flows of the user's account, or of all the user's accounts when account_id is NULL,
 * that match: `q` is empty, or part of the name (ASCII letters compare without case, other bytes
 * exactly), or equal to the status when its ASCII letters are made upper case. Latest change first,
 * at most `limit`. The cost grows with the number of the user's flows, not with that of their
 * replies. */
enum store_result store_search_flows(struct store *store, struct arena *arena, const char *user_id,
                                     const char *account_id, struct slice q, int64_t limit,
                                     struct store_flow **flows, size_t *count);

/* A template with a FLOW button. */
struct store_template_flow {
    const char *name, *language, *flow_id;
};

/* Upserts the flows that templates open, so that replies to their sends can be counted. */
enum store_result store_upsert_template_flows(struct store *store, const char *account_id,
                                              const struct store_template_flow *rows, size_t count,
                                              int64_t now);

/* What the platform reported last about a template. Strings are NULL and times 0 where it has
 * reported nothing. */
struct store_template {
    const char *name, *language;
    const char *template_id, *status, *category, *reason, *quality;
    int64_t status_at, quality_at; /* ms */
};

/* Completes `count` rows, whose name and language are set, with what was reported about these
 * templates of the account. The strings live in `arena`. */
enum store_result store_find_templates(struct store *store, struct arena *arena,
                                       const char *account_id, struct store_template *rows,
                                       size_t count);

/* --- internal to the store: within the open transaction --- */

/* Upserts the flow that a reply belongs to when it names `token`: the id of the message that opened
 * the flow, or the flow token in it. Does nothing when `token` is NULL. False on failure. */
bool flow_token_upsert(struct store *store, const char *account_id, const char *token,
                       const char *flow_id);

#endif
