#include "store/ingest/foreign_waba.h"

#include <stdlib.h>
#include <string.h>

enum { FOREIGN_WABAS_KEPT = 10 }; /* for each line */

/* Inserts or counts a foreign WABA. The latest ones of each line are kept. A repetition of the call
 * has the same time: it counts nothing. */
static bool upsert_foreign(struct store *store, const struct foreign *foreign, int64_t now) {
    static struct statement add = {
        .sql = "INSERT INTO foreign_waba (line_id, waba_id, count, first_at, last_at) "
               "VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (line_id, waba_id) DO UPDATE "
               "SET count = foreign_waba.count + excluded.count, last_at = excluded.last_at "
               "WHERE foreign_waba.last_at <> excluded.last_at"};
    static struct statement delete_oldest = {
        .sql = "DELETE FROM foreign_waba WHERE line_id = ?1 AND waba_id IN "
               "(SELECT f.waba_id FROM foreign_waba f WHERE f.line_id = ?1 AND f.waba_id <> ?2 "
               " ORDER BY f.last_at DESC, f.waba_id LIMIT 100 OFFSET ?3)"};
    return sql_run_later(store, &add, TEXT(foreign->line_id), TEXT(foreign->waba_id),
                         INTEGER(foreign->count), INTEGER(now)) &&
           sql_run_later(store, &delete_oldest, TEXT(foreign->line_id), TEXT(foreign->waba_id),
                         INTEGER(FOREIGN_WABAS_KEPT - 1));
}

static int compare_foreign(const void *a, const void *b) {
    const struct foreign *first = a, *second = b;
    const int order = strcmp(first->line_id, second->line_id);
    return order ? order : strcmp(first->waba_id, second->waba_id);
}

/* Transactions take the rows in the same order. */
bool foreign_waba_write(struct store *store, struct foreign_tally *tally) {
    qsort(tally->list, tally->count, sizeof *tally->list, compare_foreign);
    for (size_t i = 0; i < tally->count; i++)
        if (!upsert_foreign(store, &tally->list[i], tally->now))
            return false;
    tally->count = 0;
    return true;
}

bool foreign_waba_count(struct store *store, struct foreign_tally *tally, const char *line_id,
                        const char *waba_id) {
    size_t i = 0;
    while (i < tally->count && (strcmp(tally->list[i].line_id, line_id) != 0 ||
                                strcmp(tally->list[i].waba_id, waba_id) != 0))
        i++;
    if (i == MOST_FOREIGN) {
        if (!foreign_waba_write(store, tally))
            return false;
        i = 0;
    }
    if (i == tally->count)
        tally->list[tally->count++] = (struct foreign){line_id, waba_id, 0};
    tally->list[i].count++;
    return true;
}
