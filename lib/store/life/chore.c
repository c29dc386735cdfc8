#include "store/chore.h"

#include "engine/row.h"

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

enum store_result chore_do(struct store *store, const struct chore *chore, size_t *changed) {
    bool is_free = false;
    *changed = 0;
    sql_start_with(store, chore->find, chore->parameters, chore->find_count);
    if (!row_exists(store, chore->find))
        return sql_result(store);
    while (sql_transact(store)) {
        if (!chore_take(store, &is_free))
            continue;
        sql_start_with(store, chore->change, chore->parameters, chore->change_count);
        if (!sql_row(store, chore->change) && !sql_failed(store))
            *changed = (size_t)sql_changes(store);
    }
    return chore_result(store, is_free);
}
