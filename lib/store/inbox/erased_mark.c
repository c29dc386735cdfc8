#include "store/inbox/erased_mark.h"

#include "engine/row.h"

struct erased_mark erased_mark_of(struct arena *arena, const char *account_id, const char *name) {
    struct erased_mark mark;
    crypto_sha256(slice_of(arena_printf(arena, "%s\n%s", account_id, name)), mark.hash);
    return mark;
}

bool erased_mark_add(struct store *store, const char *user_id, struct slice hash,
                     int64_t forget_at) {
    static struct statement s = {
        .sql = "INSERT INTO erased_mark (hash, user_id, forget_at) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (hash) DO NOTHING"};
    return sql_run(store, &s, BLOB(hash), TEXT(user_id), INTEGER(forget_at));
}

bool erased_mark_is_set(struct store *store, const struct erased_mark *mark) {
    static struct statement s = {.sql = "SELECT 1 FROM erased_mark WHERE hash = ?1"};
    sql_start(store, &s, BLOB(erased_mark_slice(mark)));
    return row_exists(store, &s);
}
