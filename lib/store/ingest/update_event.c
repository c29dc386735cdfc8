#include "store/ingest/update_event.h"

#include "store/count/user_number.h"
#include "store/event/event_entry.h"

static bool deliver_event(struct ingest *in, struct store_event *event) {
    struct webhook_list webhooks;
    if (!webhook_match_once(in->store, &in->webhooks, event->user_id, &webhooks))
        return false;
    in->has_many = in->has_many || webhooks.count > in->most_webhooks;
    if (in->has_many)
        return sql_abandon(in->store), false;
    if (!event_entry_is_wanted(&webhooks, event->type, event->line_id))
        return true;
    in->events++;
    return event_entry_add(in->store, in->arena, &webhooks, event, event->contact.id, in->write);
}

bool update_event_add(struct ingest *in, struct store_event *event, const struct contact *contact,
                      const char *thread_id) {
    event->user_id = in->owner.user_id;
    event->now = in->now;
    event->account_id = in->owner.account_id;
    event->waba_id = in->owner.waba_id;
    event->line_id = in->owner.line_id;
    event->phone_number_id = in->owner.phone_number_id;
    event->thread_id = thread_id;
    if (contact)
        event->contact = *contact;
    return deliver_event(in, event);
}

static struct statement find_lead = {
    .sql = "SELECT 1 FROM lead WHERE contact_id = ?1 AND source = ?2"};
static const char new_contact[] = "new_contact";

bool update_event_read_ahead(struct ingest *in, const char *contact_id) {
    struct webhook_list unused;
    in->is_lead_read_ahead = sql_reads_ahead(in->store);
    if (in->is_lead_read_ahead)
        sql_start(in->store, &find_lead, TEXT(contact_id), TEXT(new_contact));
    user_number_read_ahead(in->store, in->owner.user_id);
    return webhook_match_once(in->store, &in->webhooks, in->owner.user_id, &unused);
}

/* Whether the contact, which is locked, is a lead from this source. */
static bool find(struct ingest *in, const char *contact_id, const char *source, bool *is_found) {
    if (!in->is_lead_read_ahead || strcmp(source, new_contact) != 0)
        sql_start(in->store, &find_lead, TEXT(contact_id), TEXT(source));
    in->is_lead_read_ahead = false;
    *is_found = row_exists(in->store, &find_lead);
    return !sql_failed(in->store);
}

bool update_event_insert_lead(struct ingest *in, const char *contact_id, const char *source,
                              bool *is_first) {
    static struct statement s = {.sql =
                                     "INSERT INTO lead (user_id, contact_id, source, created_at) "
                                     "VALUES (?1, ?2, ?3, ?4) "
                                     "ON CONFLICT (contact_id, source) DO NOTHING"};
    bool is_found;
    if (!find(in, contact_id, source, &is_found))
        return false;
    *is_first = !is_found;
    return is_found || sql_run_later(in->store, &s, TEXT(in->owner.user_id), TEXT(contact_id),
                                     TEXT(source), INTEGER(in->now));
}

bool update_event_add_lead(struct ingest *in, struct store_event *event,
                           const struct contact *contact, const char *thread_id) {
    bool is_first;
    event->type = "lead.created";
    if (!update_event_insert_lead(in, contact->id, event->source, &is_first))
        return false;
    return !is_first || update_event_add(in, event, contact, thread_id);
}

bool update_event_is_wanted(const struct ingest *in, const struct store_update *update) {
    return update->message.is_event && !in->owner.is_archived;
}

bool update_event_add_message(struct ingest *in, const struct store_update *update,
                              const struct contact *contact, const char *thread_id) {
    const struct update_message *message = &update->message;
    if (!update_event_is_wanted(in, update))
        return true;
    struct store_event event = {
        .type = "message.received", .wamid = message->wamid, .message = update->body};
    struct store_event lead = {.source = new_contact, .wamid = message->wamid};
    struct store_event ad = {
        .source = "ad", .wamid = message->wamid, .referral = message->referral};
    if (!update_event_add(in, &event, contact, thread_id))
        return false;
    return update_event_add_lead(in, &lead, contact, thread_id) &&
           (!message->referral.n || update_event_add_lead(in, &ad, contact, thread_id));
}
