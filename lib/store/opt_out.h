/* Opt-outs: people who want no marketing from an account. The sender does not make the sends of
 * campaigns with a MARKETING template to them. */
#ifndef SWITCHBOARD_STORE_OPT_OUT_H
#define SWITCHBOARD_STORE_OPT_OUT_H

#include "store/store.h"

struct store_opt_out {
    const char *identity; /* digits or BSUID */
    const char *source;   /* platform, error or api */
    int64_t since;
};

/* The identities by which a caller names a person; NULL: not given. */
struct opt_out_names {
    const char *phone, *bsuid;
};

/* Adds the identities for a client. One that is there keeps its source and time. */
enum store_result store_insert_opt_out(struct store *store, const char *user_id,
                                       const char *account_id, const struct opt_out_names *names,
                                       int64_t now);

/* Deletes all identities of the person, whichever was opted out. A repetition changes nothing. */
enum store_result store_delete_opt_out(struct store *store, const char *user_id,
                                       const char *account_id, const struct opt_out_names *names);

/* Finds the row of one identity, or STORE_NOT_FOUND. */
enum store_result store_find_opt_out(struct store *store, struct arena *arena,
                                     const char *account_id, const char *identity,
                                     struct store_opt_out *row);

/* Which rows a list has. */
struct store_opt_out_filter {
    const char *account_id;
    const char *identity; /* only those of the person whose identity it is; NULL: all */
    const char *after;    /* an identity; NULL: from the first */
    size_t limit;
};

/* Lists rows in the order of their identities. */
enum store_result store_list_opt_outs(struct store *store, struct arena *arena,
                                      const struct store_opt_out_filter *filter,
                                      struct store_opt_out **rows, size_t *count);

/* Whether the person has opted out by any of the identities of its contact, former ones too. */
enum store_result store_is_opted_out(struct store *store, const char *account_id,
                                     const struct opt_out_names *names, bool *is_opted_out);

/* --- internal to the store: within the transactions of others; false on failure --- */

bool opt_out_insert(struct store *store, const char *account_id, const struct opt_out_names *names,
                    const char *source, int64_t since);

/* Deletes those of the person that are not newer than `until`. */
bool opt_out_delete(struct store *store, const char *account_id, const struct opt_out_names *names,
                    int64_t until);

#endif
