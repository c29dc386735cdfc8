#include "store/ingest/message_row.h"

#include "store/inbox/change.h"
#include "store/inbox/contact.h"
#include "store/ingest/update_event.h"

bool message_row_add_thread(struct ingest *in, const char *contact_id, bool counts_as_unread,
                            struct message_row *row, char id[ID_SIZE]) {
    struct thread thread = {.new_id = ingest_id(in, "thr_"),
                            .user_id = in->owner.user_id,
                            .line_id = in->owner.line_id,
                            .contact_id = contact_id,
                            .at = row->message->timestamp,
                            .is_inbound = !row->message->is_outgoing,
                            .is_unread = counts_as_unread};
    thread_read_ahead(in->store, &thread);
    if (row->has_events && !update_event_read_ahead(in, contact_id))
        return false;
    if (!change_next(in->store, in->owner.user_id, &thread.change) ||
        !thread_upsert(in->store, &thread, id))
        return false;
    row->change = thread.change;
    return true;
}

bool message_row_insert(struct ingest *in, const struct message_row *row) {
    static struct statement s = {
        .sql =
            "INSERT INTO message (id, thread_id, line_id, wamid, direction, source, type, status, "
            "status_at, timestamp, context_wamid, body, created_at, user_id, changed, phone, "
            "bsuid) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"};
    const struct update_message *message = row->message;
    const struct store_identity *who = &message->who;
    return sql_run_later(
        in->store, &s, TEXT(row->id), TEXT(row->thread_id), TEXT(in->owner.line_id),
        TEXT(message->wamid), TEXT(message->is_outgoing ? "out" : "in"), TEXT(row->source),
        TEXT(message->type), TEXT(row->status), INTEGER(message->timestamp),
        TEXT(message->context_wamid), BLOB(row->body), INTEGER(in->now), TEXT(in->owner.user_id),
        INTEGER(row->change), TEXT(who->phone), TEXT(who->bsuid ? who->bsuid : who->parent_bsuid));
}
