/* The accounts of a user as the user reads them, in GET /v2/me and in the overview (spec 2.2). */
#ifndef SWITCHBOARD_ACCOUNT_VIEW_H
#define SWITCHBOARD_ACCOUNT_VIEW_H

#include "store/store.h"
#include "web/request.h"

/* Writes the member `accounts`, an array. */
void account_view_write(struct json_writer *out, const struct store_account *accounts,
                        size_t count);

#endif
