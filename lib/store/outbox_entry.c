#include "store/outbox_entry.h"

bool outbox_has_target(struct store *store, const char *user_id) {
    static struct statement s = {
        .sql = "SELECT 1 FROM webhook WHERE user_id = ?1 AND url <> '' AND code IS NOT NULL"};
    sql_start(store, &s, TEXT(user_id));
    const bool is_set = sql_row(store, &s);
    if (is_set)
        sql_stop(&s);
    return is_set;
}

/* Sets the event's sequence to its user's next one; *is_new is false when the event is stored. */
static bool next_sequence(struct store *store, struct store_event *event, const char *id,
                          bool *is_new) {
    static struct statement s = {
        .sql = "UPDATE \"user\" SET event_sequence = event_sequence + 1 WHERE id = ?1 "
               "AND NOT EXISTS (SELECT 1 FROM event e WHERE e.id = ?2) RETURNING event_sequence"};
    sql_start(store, &s, TEXT(event->user_id), TEXT(id));
    if (!(*is_new = sql_row(store, &s)))
        return !sql_failed(store);
    event->sequence = column_integer(&s, 0);
    return !sql_row(store, &s) && !sql_failed(store); /* SQLite writes when the last step is done */
}

bool outbox_add(struct store *store, struct arena *arena, struct store_event *event, const char *id,
                event_writer *write) {
    static struct statement s = {
        .sql = "INSERT INTO event (id, user_id, sequence, type, contact_id, body, state, "
               "next_attempt_at, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?7, ?7)"};
    bool is_new;
    if (!next_sequence(store, event, id, &is_new))
        return false;
    return !is_new || sql_run(store, &s, TEXT(id), TEXT(event->user_id), INTEGER(event->sequence),
                              TEXT(event->type), TEXT(event->contact.id), BLOB(write(arena, event)),
                              INTEGER(event->now));
}
