/* Internal to the store: logins that wait for the second factor of their member. Each function is
 * for the open transaction, and returns false after a failure. */
#ifndef SWITCHBOARD_STORE_LOGIN_PENDING_LOGIN_H
#define SWITCHBOARD_STORE_LOGIN_PENDING_LOGIN_H

#include "base/crypto.h"
#include "engine/sql.h"

/* Whether logins of the member ask for a second factor. */
bool factor_is_set(struct store *store, const char *member_id);

/* Inserts the login of the cookie with this hash; beyond the most of its member the oldest ends. */
bool pending_insert(struct store *store, const char *member_id,
                    const unsigned char hash[CRYPTO_HASH_SIZE], bool is_by_link,
                    int64_t expires_at);

/* Counts a wrong code of the login, once for each attempt; the PENDING_FAILURES-th ends it. Sets
 * whether the login has ended, now or before. */
bool pending_fail(struct store *store, const unsigned char hash[CRYPTO_HASH_SIZE],
                  const char *attempt_id, bool *has_ended);

/* Ends the pending logins of the member. */
bool pending_end_all(struct store *store, const char *member_id);

#endif
