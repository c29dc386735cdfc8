#include "store/sealed.h"

#include "engine/sql.h"
#include "store/seal_context.h"

/* The columns that hold sealed values. */
static struct column {
    const char *what;
    char *(*seal_context)(struct arena *arena, const char *owner);
    struct statement list, set;
} columns[] = {
    {.what = "platform access token of account",
     .seal_context = account_token_context,
     .list = {.sql = "SELECT id, access_token, id FROM account WHERE access_token IS NOT NULL "
                     "ORDER BY id"},
     .set = {.sql = "UPDATE account SET access_token = ?2 WHERE id = ?1"}},
    {.what = "webhook code of user",
     .seal_context = webhook_code_context,
     .list = {.sql = "SELECT user_id, code, id FROM webhook WHERE code IS NOT NULL ORDER BY id"},
     .set = {.sql = "UPDATE webhook SET code = ?2 WHERE id = ?1"}},
    {.what = "previous webhook code of user",
     .seal_context = webhook_code_context,
     .list = {.sql = "SELECT user_id, previous_code, id FROM webhook "
                     "WHERE previous_code IS NOT NULL ORDER BY id"},
     .set = {.sql = "UPDATE webhook SET previous_code = ?2 WHERE id = ?1"}},
    {.what = "secret of the second factor of member",
     .seal_context = factor_secret_context,
     .list = {.sql = "SELECT member_id, secret, member_id FROM factor ORDER BY member_id"},
     .set = {.sql = "UPDATE factor SET secret = ?2 WHERE member_id = ?1"}},
    {.what = "answer to a request with an Idempotency-Key of user",
     .seal_context = idempotency_answer_context,
     .list = {.sql = "SELECT user_id, answer, request_id FROM idempotency WHERE is_sealed = 1 "
                     "ORDER BY request_id"},
     .set = {.sql = "UPDATE idempotency SET answer = ?2 WHERE request_id = ?1 AND is_sealed = 1"}},
};

enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

/* Adds the values of a column to `rows`. */
static void list_column(struct store *store, struct arena *arena, struct column *column,
                        struct buffer *rows) {
    sql_start_with(store, &column->list, NULL, 0);
    while (sql_row(store, &column->list)) {
        const char *owner = column_text(&column->list, 0, arena);
        struct store_sealed sealed = {.what = column->what,
                                      .owner = owner,
                                      .seal_context = column->seal_context(arena, owner),
                                      .value = column_blob(&column->list, 1, arena),
                                      .row = column_text(&column->list, 2, arena)};
        buffer_add(rows, &sealed, sizeof sealed);
    }
}

static struct store_sealed *rows_of(const struct buffer *rows, size_t *count) {
    *count = rows->n / sizeof(struct store_sealed);
    return (struct store_sealed *)(void *)rows->p;
}

enum store_result store_list_sealed(struct store *store, struct arena *arena,
                                    struct store_sealed **values, size_t *count) {
    struct buffer rows = buffer_in(arena);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        list_column(store, arena, &columns[i], &rows);
    *values = rows_of(&rows, count);
    return sql_result(store);
}

/* Seals the values of a column again; false when `reseal` stopped it. */
static bool reseal_column(struct store *store, struct arena *arena, struct column *column,
                          const struct store_resealing *resealing, size_t *changed) {
    struct buffer rows = buffer_in(arena);
    size_t count;
    list_column(store, arena, column, &rows);
    struct store_sealed *values = rows_of(&rows, &count);
    for (size_t i = 0; i < count; i++) {
        struct slice value = resealing->reseal(resealing->context, &values[i]);
        if (!value.p)
            return false;
        if (value.p == values[i].value.p)
            continue;
        if (!sql_run(store, &column->set, TEXT(values[i].row), BLOB(value)))
            return true; /* the failure ends the transaction */
        ++*changed;
    }
    return true;
}

enum store_result store_reseal(struct store *store, struct arena *arena,
                               const struct store_resealing *resealing, size_t *changed) {
    bool goes_on = true;
    *changed = 0;
    while (sql_transact(store)) {
        *changed = 0;
        sql_lock(store, LOCK_KEYS, NULL, NULL, 0);
        sql_wait_for_locks(store);
        if (sql_failed(store))
            continue;
        goes_on = resealing->begin(resealing->context);
        for (size_t i = 0; i < COLUMN_COUNT && goes_on; i++)
            goes_on = reseal_column(store, arena, &columns[i], resealing, changed);
        if (goes_on && !sql_failed(store))
            goes_on = resealing->end(resealing->context, *changed);
        if (!goes_on)
            sql_abandon(store);
    }
    enum store_result result = sql_result(store);
    return goes_on ? result : STORE_CONFLICT;
}
