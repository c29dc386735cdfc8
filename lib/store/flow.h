/* Flows (forms) as rows of ours, and what templates tell of them (spec 2.6, 4.5). */
#ifndef SWITCHBOARD_STORE_FLOW_H
#define SWITCHBOARD_STORE_FLOW_H

#include "store/store.h"

struct store_flow {
    const char *flow_id, *account_id, *name, *status;
    struct slice validation; /* JSON array */
    int64_t created_at, updated_at;
    int64_t responses; /* flow replies received */
};

/* Writes down flows as the platform shows them; rows that say the same already stay
 * untouched. Works in `arena`. */
enum store_result store_save_flows(struct store *store, struct arena *arena, const char *account_id,
                                   const struct store_flow *flows, size_t count, int64_t now);

/* The flows of the user's account, or of all their accounts when account_id is NULL, that match:
 * `q` empty, or part of the name (ASCII letters of either case are the same, others must be equal),
 * or equal to the status when its ASCII letters are made upper case. Latest change first, at most
 * `limit`. Its cost grows with the user's flows, not with their replies. */
enum store_result store_search_flows(struct store *store, struct arena *arena, const char *user_id,
                                     const char *account_id, struct slice q, int64_t limit,
                                     struct store_flow **flows, size_t *count);

/* A template with a FLOW button. */
struct store_template_flow {
    const char *name, *language, *flow_id;
};

/* Writes down which flows templates open, so that replies to their sends can be counted. */
enum store_result store_save_template_flows(struct store *store, const char *account_id,
                                            const struct store_template_flow *rows, size_t count,
                                            int64_t now);

#endif
