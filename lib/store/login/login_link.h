/* The links that log members in (logins.h). Each member has one at most. */
#ifndef SWITCHBOARD_STORE_LOGIN_LINK_H
#define SWITCHBOARD_STORE_LOGIN_LINK_H

#include "base/crypto.h"
#include "store/store.h"

/* Within the open transaction: replaces the link of the member. */
bool login_set_link(struct store *store, const char *member_id,
                    const unsigned char hash[CRYPTO_HASH_SIZE], int64_t expires_at);

#endif
