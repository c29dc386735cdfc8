#include "store/inbox/thread.h"

#include <stdio.h>

#include "engine/row.h"
#include "engine/tally.h"

/* --- changes that are collected --- */

/* A thread that the transaction has changed before, and what is to be written. */
struct thread_entry {
    char id[ID_SIZE], line_id[ID_SIZE], contact_id[ID_SIZE]; /* line_id "": not known */
    int64_t at, inbound_at;                                  /* INT64_MIN: unchanged */
    int64_t unread, change;                                  /* 0: unchanged */
    bool is_pending, is_recounted;
};

static int64_t later_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* --- what waits for an answer ---
 *
 * A message of the contact waits until a later one answers it, or it is marked as done. The
 * platform gives whole seconds: within its second a message counts from its arrival, so that an
 * answer that follows at once is one, and an answer before it is none. A message that failed
 * answers nothing, nor does that of a campaign, whose failure is the campaign's alone. Old messages
 * of the business app wait for nothing. A thread whose contact is blocked does not wait. */

#define WAITS                                                                                      \
    "m.direction = 'in' AND m.source = 'webhook' AND " COUNTS_TYPE("m.") " AND m.done_at IS NULL "
#define ARRIVED                                                                                    \
    "CASE WHEN m.created_at < m.timestamp + 999 THEN m.created_at ELSE m.timestamp + 999 END"

/* The first message that waits after an answer at the time `answer` and the last one known. */
#define FIRST_WAITING(answer)                                                                      \
    "(SELECT m.timestamp FROM message m WHERE m.thread_id = thread.id "                            \
    "AND m.timestamp > " answer " - 1000 AND " WAITS "AND " ARRIVED " > " answer " AND " ARRIVED   \
    " > coalesce(thread.answered_at, 0) ORDER BY m.timestamp LIMIT 1)"
#define IS_BLOCKED(line, contact)                                                                  \
    "EXISTS (SELECT 1 FROM contact_block b WHERE b.line_id = " line " AND b.contact_id = " contact \
    ")"

/* ARRIVED of a new message. */
static int64_t arrival_of(const struct thread *thread) {
    const int64_t end = thread->at + 999;
    return thread->arrived_at < end ? thread->arrived_at : end;
}

static bool recount(struct store *store, const char *id) {
    static struct statement answer = {
        .sql =
            "UPDATE thread SET answered_at = (SELECT m.timestamp FROM message m "
            "WHERE m.thread_id = thread.id AND m.direction = 'out' AND m.status <> 'failed' "
            "AND m.is_campaign = 0 AND " COUNTS_TYPE(
                "m.") " ORDER BY m.timestamp DESC LIMIT 1), "
                      "failed_at = (SELECT CASE WHEN m.status = 'failed' AND m.source <> 'history' "
                      "AND m.done_at IS NULL THEN m.timestamp END FROM message m "
                      "WHERE m.thread_id = thread.id AND m.direction = 'out' "
                      "AND m.is_campaign = 0 AND " COUNTS_TYPE(
                          "m.") " ORDER BY m.timestamp DESC, m.id DESC LIMIT 1) "
                                "WHERE id = ?1"};
    static struct statement wait = {
        .sql = "UPDATE thread SET waiting_since = CASE WHEN NOT " IS_BLOCKED(
            "thread.line_id",
            "thread.contact_id") " THEN " FIRST_WAITING("coalesce(thread.answered_at, "
                                                        "0)") " END WHERE id = ?1"};
    return sql_run_later(store, &answer, TEXT(id)) && sql_run_later(store, &wait, TEXT(id));
}

bool thread_counts_type(const char *type) {
    static const char *const other[] = {"edit", "revoke", "reaction"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strcmp(type, other[i]) == 0)
            return false;
    return true;
}

static bool write_entry(struct store *store, void *entry) {
    static struct statement s = {
        .sql = "UPDATE thread SET unread = unread + ?4, last_message_at = CASE WHEN "
               "?2 > last_message_at THEN ?2 ELSE last_message_at END, last_inbound_at = CASE WHEN "
               "last_inbound_at IS NULL OR ?3 > last_inbound_at THEN ?3 ELSE last_inbound_at END, "
               "changed = CASE WHEN ?5 > changed THEN ?5 ELSE changed END WHERE id = ?1"};
    const struct thread_entry *t = entry;
    return (!t->is_pending ||
            sql_run_later(store, &s, TEXT(t->id), INTEGER(t->at),
                          t->inbound_at != INT64_MIN ? INTEGER(t->inbound_at) : NO_INTEGER,
                          INTEGER(t->unread), INTEGER(t->change))) &&
           (!t->is_recounted || recount(store, t->id));
}

static struct thread_entry room[2 * 64];
static struct tally entries = {
    .name = "thread", TALLY_IN(room), .order = tally_by_text, .write = write_entry};

static int compare_places(const void *entry, const void *key) {
    const struct thread_entry *known = entry;
    const struct thread *thread = key;
    const int order = strcmp(known->contact_id, thread->contact_id);
    return order ? order : strcmp(known->line_id, thread->line_id);
}

/* Returns the entry of the thread, which was changed before; NULL: it was not. */
static struct thread_entry *find_by_id(const char *id) {
    return tally_find(&entries, tally_by_text, id);
}

static struct thread_entry *find_by_place(const struct thread *thread) {
    return tally_find(&entries, compare_places, thread);
}

/* The caller has changed the row of the thread, which has no entry, or one without its place. */
static bool enter(struct store *store, const char *id, const struct thread *place) {
    struct thread_entry entry = {.at = INT64_MIN, .inbound_at = INT64_MIN}, *known = find_by_id(id);
    snprintf(entry.id, ID_SIZE, "%s", id);
    if (!known && !(known = tally_add(store, &entries, &entry)))
        return false;
    if (place) {
        snprintf(known->line_id, ID_SIZE, "%s", place->line_id);
        snprintf(known->contact_id, ID_SIZE, "%s", place->contact_id);
    }
    return true;
}

bool thread_write_changes(struct store *store) {
    return tally_write(store, &entries);
}

bool thread_change(struct store *store, const char *id, int64_t change) {
    static struct statement s = {.sql = "UPDATE thread SET changed = ?2 WHERE id = ?1"};
    struct thread_entry *known = find_by_id(id);
    if (!known)
        return sql_run_later(store, &s, TEXT(id), INTEGER(change)) && enter(store, id, NULL);
    known->is_pending = true;
    known->change = later_of(known->change, change);
    return true;
}

bool thread_recount(struct store *store, const char *id) {
    if (!enter(store, id, NULL))
        return false;
    find_by_id(id)->is_recounted = true;
    return true;
}

/* --- one thread --- */

bool thread_is_open(struct store *store, const struct store_view *view, const char *id) {
    static struct statement s = {.sql = "SELECT id FROM thread WHERE id = ?1 "
                                        "AND (assignee_id IS NULL OR assignee_id = ?2)"};
    if (!view->own_id)
        return true;
    sql_start(store, &s, TEXT(id), TEXT(view->own_id));
    return row_exists(store, &s);
}

bool thread_find(struct store *store, const struct store_view *view, const char *id,
                 struct thread_found *found) {
#define FOUND_COLUMNS                                                                              \
    "t.id, t.unread, t.waiting_since, t.failed_at, t.answered_at, t.done_at, t.line_id FROM "
    static struct statement s = {
        .sql = "SELECT " FOUND_COLUMNS "thread t WHERE t.user_id = ?2 AND t.id = ?1 UNION ALL "
               "SELECT " FOUND_COLUMNS "thread_alias a JOIN thread t ON t.id = a.thread_id "
               "WHERE a.id = ?1 AND a.user_id = ?2 LIMIT 1"};
    char line_id[ID_SIZE];
    sql_start(store, &s, TEXT(id), TEXT(view->user_id));
    if (!sql_row(store, &s))
        return false;
    column_id(&s, 0, found->id);
    found->unread = column_integer(&s, 1);
    found->waiting_since = column_time(&s, 2);
    found->failed_at = column_time(&s, 3);
    found->answered_at = column_time(&s, 4);
    found->done_at = column_time(&s, 5);
    column_id(&s, 6, line_id);
    sql_stop(&s);
    return view_has_line(view, line_id) && thread_is_open(store, view, found->id);
}

/* --- messages of a thread --- */

static struct statement find_thread = {
    .sql = "SELECT t.id FROM thread t WHERE t.line_id = ?1 AND t.contact_id = ?2"};

void thread_read_ahead(struct store *store, struct thread *thread) {
    thread->is_read_ahead = sql_reads_ahead(store) && !find_by_place(thread);
    if (thread->is_read_ahead)
        sql_start(store, &find_thread, TEXT(thread->line_id), TEXT(thread->contact_id));
}

#define UPSERT_THREAD                                                                              \
    "INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at, "          \
    "changed, last_inbound_at, unread, waiting_since, answered_at) "                               \
    "VALUES (?1, ?2, ?3, ?4, ?5, ?12, ?6, ?7, ?8, "                                                \
    "CASE WHEN NOT " IS_BLOCKED(                                                                   \
        "?3",                                                                                      \
        "?4") " THEN CAST(?9 AS BIGINT) END, ?11) "                                                \
              "ON CONFLICT (line_id, contact_id) DO UPDATE "                                       \
              "SET last_message_at = CASE WHEN excluded.last_message_at > thread.last_message_at " \
              "THEN excluded.last_message_at ELSE thread.last_message_at END, "                    \
              "last_inbound_at = CASE WHEN thread.last_inbound_at IS NULL "                        \
              "OR excluded.last_inbound_at > thread.last_inbound_at "                              \
              "THEN excluded.last_inbound_at ELSE thread.last_inbound_at END, "                    \
              "unread = thread.unread + excluded.unread, changed = excluded.changed, "             \
              "waiting_since = CASE WHEN excluded.waiting_since IS NOT NULL "                      \
              "AND ?10 > coalesce(thread.answered_at, 0) AND (thread.waiting_since IS NULL "       \
              "OR excluded.waiting_since < thread.waiting_since) THEN excluded.waiting_since "     \
              "WHEN excluded.answered_at >= thread.waiting_since THEN " FIRST_WAITING(             \
                  "?11") " ELSE thread.waiting_since END, answered_at = CASE WHEN "                \
                         "thread.answered_at IS NULL "                                             \
                         "OR excluded.answered_at > thread.answered_at THEN excluded.answered_at " \
                         "ELSE thread.answered_at END, failed_at = CASE WHEN "                     \
                         "excluded.answered_at >= thread.failed_at "                               \
                         "THEN NULL ELSE thread.failed_at END"

/* Upserts a thread and writes its id to `id`: in one statement, or in two if the thread was read
 * ahead or cannot change between them. */
static bool upsert_thread(struct store *store, const struct thread *thread, char id[ID_SIZE]) {
    const struct parameter parameters[] = {TEXT(thread->new_id),
                                           TEXT(thread->user_id),
                                           TEXT(thread->line_id),
                                           TEXT(thread->contact_id),
                                           INTEGER(thread->at),
                                           INTEGER(thread->change),
                                           thread->is_inbound ? INTEGER(thread->at) : NO_INTEGER,
                                           INTEGER(thread->is_unread),
                                           thread->is_unread ? INTEGER(thread->at) : NO_INTEGER,
                                           INTEGER(arrival_of(thread)),
                                           thread->is_answer ? INTEGER(thread->at) : NO_INTEGER,
                                           INTEGER(thread->is_campaign ? 0 : thread->at)};
    const size_t count = sizeof parameters / sizeof *parameters;
    static struct statement upsert = {.sql = UPSERT_THREAD},
                            returning = {.sql = UPSERT_THREAD " RETURNING id"};
    if (!thread->is_read_ahead && !sql_is_only_writer(store)) {
        sql_start_with(store, &returning, parameters, count);
        return sql_read_id(store, &returning, id);
    }
    if (!thread->is_read_ahead)
        sql_start(store, &find_thread, TEXT(thread->line_id), TEXT(thread->contact_id));
    snprintf(id, ID_SIZE, "%s", thread->new_id);
    sql_read_id(store, &find_thread, id);
    return !sql_failed(store) && sql_run_later_with(store, &upsert, parameters, count);
}

/* Adds a message to the thread, which was changed before. */
static void add_message(struct thread_entry *known, const struct thread *thread) {
    known->is_pending = true;
    known->at = later_of(known->at, thread->is_campaign ? INT64_MIN : thread->at);
    known->inbound_at = later_of(known->inbound_at, thread->is_inbound ? thread->at : INT64_MIN);
    known->unread += thread->is_unread;
    known->change = later_of(known->change, thread->change);
    known->is_recounted |= thread->is_unread || thread->is_answer;
}

bool thread_upsert(struct store *store, const struct thread *thread, char id[ID_SIZE]) {
    struct thread_entry *known = find_by_place(thread);
    if (!known)
        return upsert_thread(store, thread, id) && enter(store, id, thread);
    add_message(known, thread);
    snprintf(id, ID_SIZE, "%s", known->id);
    return true;
}
