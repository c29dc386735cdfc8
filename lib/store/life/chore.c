#include "store/chore.h"

#include "engine/sql.h"

bool chore_take(struct store *store, bool *is_free) {
    const bool is_taken = sql_try_lock(store, LOCK_CHORES, NULL, NULL, 0);
    *is_free = is_taken || sql_failed(store);
    return is_taken;
}

enum store_result chore_result(struct store *store, bool is_free) {
    enum store_result result = sql_result(store);
    if (result != STORE_OK || is_free)
        return result;
    return sql_refuse(store, STORE_BUSY, "another process does the regular work");
}
