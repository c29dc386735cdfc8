#include "store/inbox/thread_tally.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/driver.h"

static int64_t later_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool write_change(struct store *store, struct thread_change *change) {
    static struct statement s = {
        .sql = "UPDATE thread SET unread = unread + ?4, last_message_at = CASE WHEN "
               "?2 > last_message_at THEN ?2 ELSE last_message_at END, last_inbound_at = CASE WHEN "
               "last_inbound_at IS NULL OR ?3 > last_inbound_at THEN ?3 ELSE last_inbound_at END, "
               "changed = CASE WHEN ?5 > changed THEN ?5 ELSE changed END WHERE id = ?1"};
    if (!change->is_pending)
        return true;
    change->is_pending = false;
    return sql_run_later(store, &s, TEXT(change->id), INTEGER(change->at),
                         change->inbound_at != INT64_MIN ? INTEGER(change->inbound_at) : NO_INTEGER,
                         INTEGER(change->unread), INTEGER(change->change));
}

static int compare_changes(const void *a, const void *b) {
    const struct thread_change *first = a, *second = b;
    return strcmp(first->id, second->id);
}

void thread_tally_collect(struct store *store, struct thread_tally *tally) {
    store->threads = tally;
}

/* Transactions take the rows in the same order. */
bool thread_tally_write(struct store *store) {
    struct thread_tally *tally = store->threads;
    if (!tally)
        return true;
    qsort(tally->list, tally->count, sizeof *tally->list, compare_changes);
    for (size_t i = 0; i < tally->count; i++)
        if (!write_change(store, &tally->list[i]))
            return false;
    tally->count = tally->next = 0;
    return true;
}

static struct thread_change *find(struct thread_tally *tally, const char *id) {
    for (size_t i = 0; tally && i < tally->count; i++)
        if (strcmp(tally->list[i].id, id) == 0)
            return &tally->list[i];
    return NULL;
}

static struct thread_change *find_of(struct thread_tally *tally, const struct thread *thread) {
    for (size_t i = 0; tally && i < tally->count; i++)
        if (strcmp(tally->list[i].contact_id, thread->contact_id) == 0 &&
            strcmp(tally->list[i].line_id, thread->line_id) == 0)
            return &tally->list[i];
    return NULL;
}

bool thread_tally_has(const struct store *store, const struct thread *thread) {
    return find_of(store->threads, thread);
}

bool thread_tally_add(struct store *store, const struct thread *thread, char id[ID_SIZE]) {
    struct thread_change *found = find_of(store->threads, thread);
    if (!found)
        return false;
    found->is_pending = true;
    found->at = later_of(found->at, thread->at);
    found->inbound_at = later_of(found->inbound_at, thread->is_inbound ? thread->at : INT64_MIN);
    found->unread += thread->is_unread;
    found->change = later_of(found->change, thread->change);
    snprintf(id, ID_SIZE, "%s", found->id);
    return true;
}

bool thread_tally_change(struct store *store, const char *id, int64_t change) {
    struct thread_change *found = find(store->threads, id);
    if (!found)
        return false;
    found->is_pending = true;
    found->change = later_of(found->change, change);
    return true;
}

/* Returns the entry of a thread that has none. One of the others is written if there is no room.
 * NULL on failure. */
static struct thread_change *take_entry(struct store *store, const char *id) {
    struct thread_tally *tally = store->threads;
    if (tally->count < THREADS_COLLECTED)
        tally->next = tally->count++;
    else if (!write_change(store, &tally->list[tally->next = (tally->next + 1) % tally->count]))
        return NULL;
    struct thread_change *entry = &tally->list[tally->next];
    *entry = (struct thread_change){.at = INT64_MIN, .inbound_at = INT64_MIN};
    snprintf(entry->id, ID_SIZE, "%s", id);
    return entry;
}

bool thread_tally_enter(struct store *store, const char *id, const char *line_id,
                        const char *contact_id) {
    struct thread_change *entry = find(store->threads, id);
    if (!store->threads)
        return true;
    if (!entry && !(entry = take_entry(store, id)))
        return false;
    if (line_id && contact_id) {
        snprintf(entry->line_id, ID_SIZE, "%s", line_id);
        snprintf(entry->contact_id, ID_SIZE, "%s", contact_id);
    }
    return true;
}
