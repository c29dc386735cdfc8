/* Users for the operator, and pages of lists. As in store.h, arrays and strings are in the `arena`.
 * Tables that grow with traffic are read in pages, so that memory and read transactions stay small.
 */
#ifndef SWITCHBOARD_STORE_LISTING_H
#define SWITCHBOARD_STORE_LISTING_H

#include "store/store.h"

/* A page: at most `limit` rows that follow the row with the id `after` in the order of the listing;
 * NULL: the first rows. A page with fewer rows is the last one. */
struct store_page {
    const char *after;
    size_t limit;
};

struct store_plan {
    const char *name;
    bool is_addon;
    int64_t ends_at; /* INT64_MAX: no end */
};

struct store_user_entry {
    const char *id, *email;
    const char *default_account_id; /* NULL: none */
    int64_t created_at;
    const struct store_plan *plans; /* the primary plan first */
    size_t plan_count;
};

/* Lists the users that are not deleted in the order of their creation. */
enum store_result store_list_users(struct store *store, struct arena *arena,
                                   struct store_user_entry **users, size_t *count);

/* Finds the id of the user with this email who is not deleted, or STORE_NOT_FOUND. */
enum store_result store_find_user(struct store *store, const char *email, char id[ID_SIZE]);

#endif
