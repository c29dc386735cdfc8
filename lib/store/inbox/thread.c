#include "store/inbox/thread.h"

#include <stdio.h>

#include "engine/tally.h"

/* --- changes that are collected --- */

/* A thread that the transaction has changed before, and what is to be written. */
struct thread_entry {
    char id[ID_SIZE], line_id[ID_SIZE], contact_id[ID_SIZE]; /* line_id "": not known */
    int64_t at, inbound_at;                                  /* INT64_MIN: unchanged */
    int64_t unread, change;                                  /* 0: unchanged */
    bool is_pending;
};

static int64_t later_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool write_entry(struct store *store, void *entry) {
    static struct statement s = {
        .sql = "UPDATE thread SET unread = unread + ?4, last_message_at = CASE WHEN "
               "?2 > last_message_at THEN ?2 ELSE last_message_at END, last_inbound_at = CASE WHEN "
               "last_inbound_at IS NULL OR ?3 > last_inbound_at THEN ?3 ELSE last_inbound_at END, "
               "changed = CASE WHEN ?5 > changed THEN ?5 ELSE changed END WHERE id = ?1"};
    const struct thread_entry *t = entry;
    return !t->is_pending ||
           sql_run_later(store, &s, TEXT(t->id), INTEGER(t->at),
                         t->inbound_at != INT64_MIN ? INTEGER(t->inbound_at) : NO_INTEGER,
                         INTEGER(t->unread), INTEGER(t->change));
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
    "changed, last_inbound_at, unread) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8) "               \
    "ON CONFLICT (line_id, contact_id) DO UPDATE "                                                 \
    "SET last_message_at = CASE WHEN excluded.last_message_at > thread.last_message_at "           \
    "THEN excluded.last_message_at ELSE thread.last_message_at END, "                              \
    "last_inbound_at = CASE WHEN thread.last_inbound_at IS NULL "                                  \
    "OR excluded.last_inbound_at > thread.last_inbound_at "                                        \
    "THEN excluded.last_inbound_at ELSE thread.last_inbound_at END, "                              \
    "unread = thread.unread + excluded.unread, changed = excluded.changed"

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
                                           INTEGER(thread->is_unread)};
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
    known->at = later_of(known->at, thread->at);
    known->inbound_at = later_of(known->inbound_at, thread->is_inbound ? thread->at : INT64_MIN);
    known->unread += thread->is_unread;
    known->change = later_of(known->change, thread->change);
}

bool thread_upsert(struct store *store, const struct thread *thread, char id[ID_SIZE]) {
    struct thread_entry *known = find_by_place(thread);
    if (!known)
        return upsert_thread(store, thread, id) && enter(store, id, thread);
    add_message(known, thread);
    snprintf(id, ID_SIZE, "%s", known->id);
    return true;
}
