#include "store/ingest/foreign_waba.h"

#include <string.h>

#include "engine/tally.h"

enum { FOREIGN_WABAS_KEPT = 10 }; /* for each line */

/* A line, and the WABA id of another account. */
struct foreign {
    const char *line_id, *waba_id;
    int64_t now;
    int64_t count; /* of skipped updates */
};

/* Inserts or counts a foreign WABA. The latest ones of each line are kept. A repetition of the call
 * has the same time: it counts nothing. */
static bool upsert_foreign(struct store *store, void *entry) {
    static struct statement add = {
        .sql = "INSERT INTO foreign_waba (line_id, waba_id, count, first_at, last_at) "
               "VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (line_id, waba_id) DO UPDATE "
               "SET count = foreign_waba.count + excluded.count, last_at = excluded.last_at "
               "WHERE foreign_waba.last_at <> excluded.last_at"};
    static struct statement delete_oldest = {
        .sql = "DELETE FROM foreign_waba WHERE line_id = ?1 AND waba_id IN "
               "(SELECT f.waba_id FROM foreign_waba f WHERE f.line_id = ?1 AND f.waba_id <> ?2 "
               " ORDER BY f.last_at DESC, f.waba_id LIMIT 100 OFFSET ?3)"};
    const struct foreign *foreign = entry;
    return sql_run_later(store, &add, TEXT(foreign->line_id), TEXT(foreign->waba_id),
                         INTEGER(foreign->count), INTEGER(foreign->now)) &&
           sql_run_later(store, &delete_oldest, TEXT(foreign->line_id), TEXT(foreign->waba_id),
                         INTEGER(FOREIGN_WABAS_KEPT - 1));
}

static int compare_foreign(const void *a, const void *b) {
    const struct foreign *first = a, *second = b;
    const int order = strcmp(first->line_id, second->line_id);
    return order ? order : strcmp(first->waba_id, second->waba_id);
}

static struct foreign room[2 * 64];
static struct tally skipped = {
    .name = "foreign_waba", TALLY_IN(room), .order = compare_foreign, .write = upsert_foreign};

bool foreign_waba_count(struct store *store, const char *line_id, const char *waba_id,
                        int64_t now) {
    const struct foreign key = {line_id, waba_id, now, 0};
    struct foreign *known = tally_find(&skipped, compare_foreign, &key);
    if (!known && !(known = tally_add(store, &skipped, &key)))
        return false;
    known->count++;
    return true;
}
