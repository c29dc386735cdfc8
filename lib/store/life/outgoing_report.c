/* The events of single sends that have ended. */
#include <string.h>

#include "store/erasure.h"
#include "store/event/event_entry.h"
#include "store/inbox/contact_find.h"
#include "store/outgoing/outgoing_row.h"

enum { ROWS_AT_ONCE = 50, MEMORY = 64 * 1024 * 1024 };

/* A transaction that reports rows of one user. */
struct reporting {
    struct store *store;
    struct arena *arena;
    int64_t now;
    event_writer *write;
    const char *user_id;
    struct webhook_list webhooks;
};

static bool find_user(struct store *store, int64_t now, char user_id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT user_id FROM outgoing WHERE report_at <= ?1 "
                                        "ORDER BY report_at LIMIT 1"};
    sql_start(store, &s, INTEGER(now));
    return sql_read_id(store, &s, user_id);
}

/* Lists the first rows that are due, without those of other users. */
static struct buffer list_due(const struct reporting *r) {
    static struct statement s = {.sql = "SELECT id, user_id FROM outgoing WHERE report_at <= ?1 "
                                        "ORDER BY report_at LIMIT ?2"};
    struct buffer ids = buffer_in(r->arena);
    sql_start(r->store, &s, INTEGER(r->now), INTEGER(ROWS_AT_ONCE));
    while (sql_row(r->store, &s)) {
        const char *id = column_text(&s, 0, r->arena), *user_id = column_text(&s, 1, r->arena);
        if (strcmp(user_id, r->user_id) == 0)
            buffer_add(&ids, &id, sizeof id);
    }
    return ids;
}

/* Takes the marks away, and leaves in `*ids` those that had one: of others another courier has
 * taken it, or the row was deleted. The rows are locked by that: they do not change before the
 * events are stored. */
static bool unmark(const struct reporting *r, struct buffer *ids) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET report_at = NULL WHERE id = ?1 AND report_at <= ?2"};
    const char **id = (const char **)(void *)ids->p;
    size_t due = 0;
    for (size_t i = 0; i < ids->n / sizeof *id; i++) {
        if (!sql_run(r->store, &s, TEXT(id[i]), INTEGER(r->now)))
            return false;
        if (sql_changes(r->store))
            id[due++] = id[i];
    }
    ids->n = due * sizeof *id;
    return true;
}

static bool read_row(const struct reporting *r, const char *id, struct store_outgoing *row) {
    static struct statement s = {.sql = "SELECT " OUTGOING_COLUMNS_WITH(
                                     "NULL") " FROM outgoing o "
                                             "JOIN line l ON l.id = o.line_id WHERE o.id = ?1"};
    sql_start(r->store, &s, TEXT(id));
    return row_find(r->store, &s, r->arena, &outgoing_layout, row);
}

/* Sets the contact of the recipient, who may be unknown, and the thread on the line. */
static bool read_contact(const struct reporting *r, const struct store_outgoing *row,
                         struct store_event *event) {
    static struct statement s = {
        .sql = "SELECT id FROM thread WHERE contact_id = ?1 AND line_id = ?2"};
    char id[ID_SIZE];
    if (!contact_find(r->store, row->account_id, row->recipient, id))
        return !sql_failed(r->store);
    if (!contact_read(r->store, r->arena, id, &event->contact))
        return false;
    sql_start(r->store, &s, TEXT(id), TEXT(row->line_id));
    event->thread_id = row_text(r->store, &s, r->arena);
    return !sql_failed(r->store);
}

/* Whether the recipient is being erased, and the row will be. It is asked after the contact was
 * read: one that was found is erased with its events. */
static bool is_erased(const struct reporting *r, const struct store_outgoing *row) {
    return erasing_has(r->store, r->arena, row->account_id, row->created_at, &row->recipient, 1);
}

static bool add_event(const struct reporting *r, const char *id) {
    struct store_outgoing row;
    if (!read_row(r, id, &row))
        return false;
    struct store_event event = {.type = "outgoing.finished",
                                .user_id = row.user_id,
                                .now = r->now,
                                .account_id = row.account_id,
                                .line_id = row.line_id,
                                .wamid = row.wamid,
                                .outgoing = &row};
    if (!event_entry_is_wanted(&r->webhooks, event.type, event.line_id))
        return true;
    if (!event_entry_read_owner(r->store, r->arena, &event) || !read_contact(r, &row, &event))
        return false;
    return is_erased(r, &row) ||
           event_entry_add(r->store, r->arena, &r->webhooks, &event, event.contact.id, r->write);
}

static bool report(struct reporting *r, size_t *reported) {
    struct buffer known = buffer_in(r->arena), ids = list_due(r);
    if (!unmark(r, &ids) || !webhook_match_once(r->store, &known, r->user_id, &r->webhooks))
        return false;
    *reported = ids.n / sizeof(char *);
    for (size_t i = 0; i < *reported; i++)
        if (!add_event(r, ((const char **)(void *)ids.p)[i]))
            return false;
    return sql_wait(r->store);
}

enum store_result store_report_outgoing(struct store *store, int64_t now, event_writer *write,
                                        size_t *reported) {
    char user_id[ID_SIZE];
    struct arena arena;
    *reported = 0;
    if (!find_user(store, now, user_id))
        return sql_result(store);
    arena_init(&arena, MEMORY, NULL);
    while (sql_transact(store)) {
        struct reporting r = {
            .store = store, .arena = &arena, .now = now, .write = write, .user_id = user_id};
        *reported = 0;
        arena_reset(&arena);
        report(&r, reported);
    }
    arena_free(&arena);
    return sql_result(store);
}
