#include "store/ingest/update_owner.h"

#include "store/inbox/contact.h"

#define OWNER_COLUMNS "a.user_id, a.id, a.waba_id"

static void read_owner(struct ingest *in, struct statement *s) {
    in->owner = (struct update_owner){
        .user_id = column_text(s, 0, in->lasting),
        .account_id = column_text(s, 1, in->lasting),
        .waba_id = column_text(s, 2, in->lasting),
    };
}

/* Finds the owner of an update: the line, or the account where it names no line. is_foreign: the
 * line belongs to another account than the entry's WABA id. */
static bool find_owner(struct ingest *in, const struct store_update *update) {
    static struct statement by_line = {
        .sql = "SELECT " OWNER_COLUMNS ", l.id, l.phone_number_id, l.archived_at IS NOT NULL "
               "FROM line l JOIN account a ON a.id = l.account_id WHERE l.phone_number_id = ?1"};
    static struct statement by_account = {.sql = "SELECT " OWNER_COLUMNS
                                                 " FROM account a WHERE a.waba_id = ?1"};
    in->owner = (struct update_owner){0};
    struct statement *s = update->phone_number_id ? &by_line : &by_account;
    sql_start(in->store, s,
              TEXT(update->phone_number_id ? update->phone_number_id : update->waba_id));
    if (!sql_row(in->store, s))
        return !sql_failed(in->store);
    read_owner(in, s);
    if (update->phone_number_id) {
        in->owner.line_id = column_text(s, 3, in->lasting);
        in->owner.phone_number_id = column_text(s, 4, in->lasting);
        in->owner.is_archived = column_integer(s, 5) != 0;
        in->owner.is_foreign =
            update->waba_id && !is_equal_or_both_null(update->waba_id, in->owner.waba_id);
    }
    sql_stop(s);
    return true;
}

bool update_owner_find_all(struct ingest *in, const struct store_update *updates, size_t count,
                           struct buffer *runs) {
    for (size_t i = 0; i < count;) {
        const struct store_update *first = &updates[i];
        if (!find_owner(in, first) || !sql_is_within_limit(in->store, 0))
            return false;
        while (i < count && is_equal_or_both_null(updates[i].waba_id, first->waba_id) &&
               is_equal_or_both_null(updates[i].phone_number_id, first->phone_number_id))
            i++;
        const struct update_run run = {in->owner, i};
        buffer_add(runs, &run, sizeof run);
    }
    return true;
}
