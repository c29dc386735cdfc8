#include "store/ingest/stored_message.h"

bool stored_message_find(struct ingest *in, const char *wamid, struct stored_message *known) {
    static struct statement s = {
        .sql = "SELECT m.id, t.contact_id, t.id, m.source = 'history' FROM message m "
               "JOIN thread t ON t.id = m.thread_id WHERE m.line_id = ?1 AND m.wamid = ?2"};
    *known = (struct stored_message){0};
    sql_start(in->store, &s, TEXT(in->owner.line_id), TEXT(wamid));
    if (!sql_row(in->store, &s))
        return !sql_failed(in->store);
    column_id(&s, 0, known->id);
    column_id(&s, 1, known->contact_id);
    column_id(&s, 2, known->thread_id);
    known->is_history = column_integer(&s, 3) != 0;
    sql_stop(&s);
    return true;
}

/* Reads the contact, which is locked; its id is NULL if the message is of another one now. */
static bool read_contact(struct ingest *in, const struct stored_message *known,
                         struct contact *contact) {
    static struct statement s = {
        .sql = "SELECT " CONTACT_COLUMNS " FROM contact WHERE id = ?1 AND EXISTS (SELECT 1 "
               "FROM message m JOIN thread t ON t.id = m.thread_id WHERE m.id = ?2 "
               "AND t.id = ?3 AND t.contact_id = contact.id)"};
    *contact = (struct contact){0};
    sql_start(in->store, &s, TEXT(known->contact_id), TEXT(known->id), TEXT(known->thread_id));
    if (!sql_row(in->store, &s))
        return !sql_failed(in->store);
    *contact = contact_of_row(&s, in->arena);
    sql_stop(&s);
    return true;
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
