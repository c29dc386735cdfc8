#include "store/ingest/message_row.h"

#include <stdio.h>

#include "engine/tally.h"
#include "store/inbox/change.h"
#include "store/inbox/contact_find.h"
#include "store/inbox/erased_mark.h"
#include "store/ingest/update_event.h"

/* A message of the history: it may be one of many, and have failed. */
static bool is_old(const struct message_row *row) {
    return row->message->is_outgoing && strcmp(row->source, "history") == 0;
}

static bool is_answer(const struct message_row *row) {
    return row->message->is_outgoing && !is_old(row) && !row->is_campaign &&
           thread_counts_type(row->message->type);
}

bool message_row_add_thread(struct ingest *in, const char *contact_id, bool counts_as_unread,
                            struct message_row *row, char id[ID_SIZE]) {
    struct thread thread = {.new_id = ingest_id(in, "thr_"),
                            .user_id = in->owner.user_id,
                            .line_id = in->owner.line_id,
                            .contact_id = contact_id,
                            .at = row->message->timestamp,
                            .is_inbound = !row->message->is_outgoing,
                            .is_unread = counts_as_unread,
                            .is_answer = is_answer(row),
                            .is_campaign = row->is_campaign,
                            .arrived_at = in->now};
    thread_read_ahead(in->store, &thread);
    if (row->has_events && !update_event_read_ahead(in, contact_id))
        return false;
    if (!change_next(in->store, in->owner.user_id, &thread.change) ||
        !thread_upsert(in->store, &thread, id) || (is_old(row) && !thread_recount(in->store, id)))
        return false;
    row->change = thread.change;
    return true;
}

bool message_row_insert(struct ingest *in, const struct message_row *row) {
    static struct statement s = {
        .sql =
            "INSERT INTO message (id, thread_id, line_id, wamid, direction, source, type, status, "
            "status_at, timestamp, context_wamid, body, created_at, user_id, changed, phone, "
            "bsuid, is_campaign, media_id) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
            "?17, ?18)"};
    const struct update_message *message = row->message;
    const struct contact *who = &message->who;
    return sql_run_later(
        in->store, &s, TEXT(row->id), TEXT(row->thread_id), TEXT(in->owner.line_id),
        TEXT(message->wamid), TEXT(message->is_outgoing ? "out" : "in"), TEXT(row->source),
        TEXT(message->type), TEXT(row->status), INTEGER(message->timestamp),
        TEXT(message->context_wamid), BLOB(row->body), INTEGER(in->now), TEXT(in->owner.user_id),
        INTEGER(row->change), TEXT(who->phone), TEXT(who->bsuid ? who->bsuid : who->parent_bsuid),
        INTEGER(row->is_campaign), TEXT(message->media_id));
}

/* --- changes --- */

struct message_change {
    char id[ID_SIZE];
    int64_t change;
};

/* Other transactions do not write the message now: its contact is locked. */
static bool write_change(struct store *store, void *entry) {
    static struct statement s = {
        .sql = "UPDATE message SET changed = CASE WHEN ?2 > changed THEN ?2 ELSE changed END "
               "WHERE id = ?1"};
    const struct message_change *change = entry;
    return sql_run_later(store, &s, TEXT(change->id), INTEGER(change->change));
}

static struct message_change room[2 * 64];
static struct tally changes = {
    .name = "message", TALLY_IN(room), .order = tally_by_text, .write = write_change};

bool message_row_change(struct store *store, const char *id, int64_t change) {
    struct message_change entry = {.change = change};
    struct message_change *known = tally_find(&changes, tally_by_text, id);
    snprintf(entry.id, ID_SIZE, "%s", id);
    if (known && known->change < change)
        known->change = change;
    return known || tally_add(store, &changes, &entry);
}

/* --- stored messages --- */

#define OF(member) ROW_MEMBER(struct stored_message, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct stored_message, OF(id), OF(contact_id), OF(thread_id), OF(is_history));

bool stored_message_find(struct ingest *in, const char *wamid, struct stored_message *known) {
    static struct statement s = {
        .sql = "SELECT m.id, t.contact_id, t.id, m.source = 'history' FROM message m "
               "JOIN thread t ON t.id = m.thread_id WHERE m.line_id = ?1 AND m.wamid = ?2 "
               "UNION ALL SELECT NULL, NULL, NULL, 1 = 0 FROM erased_mark e WHERE e.hash = ?3"};
    const struct erased_mark mark = erased_mark_of(in->arena, in->owner.account_id, wamid);
    *known = (struct stored_message){0};
    sql_start(in->store, &s, TEXT(in->owner.line_id), TEXT(wamid), BLOB(erased_mark_slice(&mark)));
    known->is_erased = row_find(in->store, &s, NULL, &layout, known) && !known->id[0];
    return !sql_failed(in->store);
}

/* Reads the contact, which is locked; its id is NULL if the message is of another one now. */
static bool read_contact(struct ingest *in, const struct stored_message *known,
                         struct contact *contact) {
    static struct statement s = {
        .sql = "SELECT " CONTACT_COLUMNS " FROM contact c WHERE c.id = ?1 AND EXISTS (SELECT 1 "
               "FROM message m JOIN thread t ON t.id = m.thread_id WHERE m.id = ?2 "
               "AND t.id = ?3 AND t.contact_id = c.id)"};
    *contact = (struct contact){0};
    sql_start(in->store, &s, TEXT(known->contact_id), TEXT(known->id), TEXT(known->thread_id));
    row_find(in->store, &s, in->arena, &contact_layout, contact);
    return !sql_failed(in->store);
}

bool stored_message_find_locked(struct ingest *in, const char *wamid, struct stored_message *known,
                                struct contact *contact) {
    *contact = (struct contact){0};
    do {
        if (!stored_message_find(in, wamid, known))
            return false;
        if (!known->id[0])
            return true;
        contact_lock(in->store, in->owner.account_id, known->contact_id);
        if (!read_contact(in, known, contact))
            return false;
    } while (!contact->id); /* before it was locked, it was merged, or the message moved */
    return true;
}
