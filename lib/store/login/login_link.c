#include "store/login/login_link.h"

#include "engine/sql.h"

bool login_set_link(struct store *store, const char *member_id,
                    const unsigned char hash[CRYPTO_HASH_SIZE], int64_t expires_at) {
    static struct statement s = {
        .sql = "INSERT INTO login_link (member_id, hash, expires_at) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (member_id) DO UPDATE SET hash = excluded.hash, "
               "expires_at = excluded.expires_at, used_at = NULL"};
    return sql_run(store, &s, TEXT(member_id), HASH(hash), INTEGER(expires_at));
}
