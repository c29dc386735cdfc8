/* Checks what must be set up at the platform for a business account: its access token, the app and
 * its webhook, the account, the subscription of the app to it, its numbers. doc/platform-setup.md
 * describes the steps. */
#ifndef SWITCHBOARD_SETUP_H
#define SWITCHBOARD_SETUP_H

#include "base/config.h"
#include "setup/setup_row.h"

/* Reads what the gateway has stored of the account. The caller sets the token. */
enum store_result setup_read(struct store *store, struct arena *arena, const struct config *config,
                             const struct store_account *account, int64_t now,
                             struct setup_subject *subject);

/* Checks the account with at most five calls for each hundred numbers, of 5 s each and 10 s in all;
 * what could not be asked in that time is a warning. The rows are in the order of the page, in
 * `arena`. No row holds the token or the app's secret. */
void setup_check(struct arena *arena, const struct setup_subject *subject,
                 const struct graph_asker *asker, struct setup_row **rows, size_t *count);

#endif
