/* Internal to the store: opt-outs within the transactions of others. False on failure. */
#ifndef SWITCHBOARD_STORE_OPT_OUT_ROW_H
#define SWITCHBOARD_STORE_OPT_OUT_ROW_H

#include "engine/sql.h"
#include "store/opt_out.h"

bool opt_out_insert(struct store *store, const char *account_id, const struct opt_out_names *names,
                    const char *source, int64_t since);

/* Deletes those of the person that are not newer than `until`. */
bool opt_out_delete(struct store *store, const char *account_id, const struct opt_out_names *names,
                    int64_t until);

#endif
