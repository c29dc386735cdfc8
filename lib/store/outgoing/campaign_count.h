/* Internal to the store: the counts of campaigns (table campaign_count), which change in the
 * transaction of each cause. The transaction collects them, and writes each once, as its last
 * locks (engine/tally.h). A function that changes the state of a row of a campaign, deletes one
 * that has not ended, or raises the status of its message counts that here; a campaign that is NULL
 * or "" is that of a single send, which is not counted. All return false on failure. */
#ifndef SWITCHBOARD_STORE_CAMPAIGN_COUNT_H
#define SWITCHBOARD_STORE_CAMPAIGN_COUNT_H

#include "engine/sql.h"

/* What the measures begin with that are no states. */
#define CAMPAIGN_DELIVERY "delivery:"
#define CAMPAIGN_ERROR    "error:"

/* A row goes from one state to another; NULL: it is new, or gone. */
bool campaign_count_state(struct store *store, const char *campaign_id, const char *from,
                          const char *to);

/* `n` more rows are in a state. */
bool campaign_count_rows(struct store *store, const char *campaign_id, const char *state,
                         int64_t n);

/* `n` more rows have failed with this code of the platform (outgoing_read_code); "": none. */
bool campaign_count_error(struct store *store, const char *campaign_id, const char *code,
                          int64_t n);

/* A message goes from one status to another, or from `held`. */
bool campaign_count_delivery(struct store *store, const char *campaign_id, const char *from,
                             const char *to);

/* A statement that takes rows from one state to another, and returns the campaign of each
 * (`RETURNING campaign_id`). */
struct campaign_transition {
    struct statement s;
    const char *from, *to; /* to NULL: it deletes them */
};

/* Runs it, counts the rows, and adds their number to `*changed`. */
#define campaign_count_run(store, change, changed, ...)                                            \
    campaign_count_run_with(store, change, changed, (const struct parameter[]){__VA_ARGS__},       \
                            sizeof((const struct parameter[]){__VA_ARGS__}) /                      \
                                sizeof(struct parameter))
bool campaign_count_run_with(struct store *store, struct campaign_transition *change,
                             size_t *changed, const struct parameter *parameters, size_t count);

/* Writes what is collected, before counts are read in the transaction. */
bool campaign_count_write(struct store *store);

#endif
