/* Messages of a payload. */
#include <string.h>

#include "base/clock.h"
#include "store/flow.h"
#include "store/inbox/change.h"
#include "store/ingest/identity.h"
#include "store/ingest/ingest_update.h"
#include "store/ingest/message_row.h"
#include "store/ingest/update_event.h"
#include "store/media_copy.h"

static bool insert_flow_reply(struct ingest *in, const struct update_message *message,
                              const char *message_id) {
    static struct statement s = {
        .sql = "INSERT INTO flow_response (message_id, account_id, flow_id) VALUES (?1, ?2, "
               "(SELECT flow_id FROM flow_token WHERE account_id = ?2 AND token IN (?3, ?4) "
               " ORDER BY token = ?3 DESC LIMIT 1)) ON CONFLICT (message_id) DO NOTHING"};
    static struct statement count = {
        .sql = "INSERT INTO flow_reply_count (account_id, flow_id, responses) "
               "SELECT account_id, flow_id, 1 FROM flow_response "
               "WHERE message_id = ?1 AND flow_id IS NOT NULL "
               "ON CONFLICT (account_id, flow_id) DO UPDATE "
               "SET responses = flow_reply_count.responses + 1"};
    return sql_run(in->store, &s, TEXT(message_id), TEXT(in->owner.account_id),
                   TEXT(message->context_wamid), TEXT(message->flow_token)) &&
           (!sql_changes(in->store) || sql_run(in->store, &count, TEXT(message_id)));
}

/* Inserts and counts the reply to a flow, or stores by what replies name a flow that is opened. */
static bool flow_reply_add(struct ingest *in, const struct update_message *message,
                           const char *message_id) {
    if (message->is_flow_reply)
        return insert_flow_reply(in, message, message_id);
    if (!message->is_outgoing || !message->flow_id)
        return true;
    /* replies name the message's id, the flow token, or both */
    const char *account_id = in->owner.account_id;
    return flow_token_upsert(in->store, account_id, message->wamid, message->flow_id) &&
           flow_token_upsert(in->store, account_id, message->flow_token, message->flow_id);
}

/* Queues the copy of the message's attachment. */
static bool queue_copy(struct ingest *in, const struct update_message *message,
                       const char *message_id) {
    const struct store_media_copy copy = {.message_id = message_id,
                                          .user_id = in->owner.user_id,
                                          .account_id = in->owner.account_id,
                                          .media_id = message->media_id,
                                          .sha256 = message->media_hash,
                                          .type = message->media_type};
    return !in->archives_media || !message->media_id || media_copy_queue(in->store, &copy, in->now);
}

static const char *const message_sources[] = {
    [UPDATE_MESSAGE] = "webhook",
    [UPDATE_ECHO] = "echo",
    [UPDATE_HISTORY] = "history",
};

/* The status that a message of a webhook payload is inserted with. */
static const char *first_status(const struct store_update *update) {
    if (!update->message.is_outgoing)
        return "received";
    return update->kind == UPDATE_HISTORY && update->message.status ? update->message.status
                                                                    : "sent";
}

/* Whether the message counts as unread: the contact wrote it now, as opposed to the history of the
 * business app, and it is a message of its own. store_mark_read counts the same ones. */
static bool is_unread(const struct store_update *update) {
    return update->kind == UPDATE_MESSAGE && thread_counts_type(update->message.type);
}

/* Gives the stored message and its thread the next number of a change. */
static bool change_message(struct ingest *in, const struct stored_message *known) {
    int64_t change;
    return change_next(in->store, in->owner.user_id, &change) &&
           message_row_change(in->store, known->id, change) &&
           thread_change(in->store, known->thread_id, change) &&
           thread_recount(in->store, known->thread_id);
}

/* Completes a stored message: one that is known only from a status, an old media message whose
 * placeholder arrived first, or one that a history update contained before its own update arrived.
 * The last one counts as new. */
static bool complete_message(struct ingest *in, struct store_update *update,
                             const struct stored_message *known) {
    static struct statement s = {
        .sql = "UPDATE message SET source = ?2, type = ?3, body = ?4, context_wamid = ?5, "
               "timestamp = ?6, media_id = ?7 "
               "WHERE id = ?1 AND ((source = 'status' AND ?2 <> 'status') "
               "OR (type = 'media_placeholder' AND ?3 <> 'media_placeholder') "
               "OR (source = 'history' AND ?2 = 'webhook'))"};
    const struct update_message *message = &update->message;
    if (!sql_run(in->store, &s, TEXT(known->id), TEXT(message_sources[update->kind]),
                 TEXT(message->type), BLOB(update->body), TEXT(message->context_wamid),
                 INTEGER(message->timestamp), TEXT(message->media_id)))
        return false;
    update->outcome = sql_changes(in->store) ? OUTCOME_STORED : OUTCOME_DUPLICATE;
    return update->outcome == OUTCOME_DUPLICATE || change_message(in, known);
}

/* Completes a stored message with what an update adds to it, and sets the outcome. */
static bool complete_known(struct ingest *in, struct store_update *update,
                           const struct stored_message *known) {
    if (!update->message.call)
        return complete_message(in, update, known);
    return ingest_call_complete(in, update, known->id) &&
           (update->outcome == OUTCOME_DUPLICATE || change_message(in, known));
}

static bool raise_unread(struct ingest *in, const char *thread_id) {
    static struct statement s = {.sql = "UPDATE thread SET unread = unread + 1 WHERE id = ?1"};
    return sql_run_later(in->store, &s, TEXT(thread_id));
}

/* Adds the event of an update that completed a stored message, whose person it may show better. */
static bool add_late_event(struct ingest *in, const struct store_update *update,
                           struct stored_message *known) {
    const struct occasion occasion = ingest_occasion(in, update->message.timestamp, NULL);
    struct contact contact;
    return identity_resolve(&occasion, &update->message.who, &contact) &&
           stored_message_find(in, update->message.wamid, known) &&
           contact_read(in->store, in->arena, known->contact_id, &contact) &&
           (update->message.call || !is_unread(update) || raise_unread(in, known->thread_id)) &&
           update_event_add_message(in, update, &contact, known->thread_id);
}

/* Handles an update for a message that is stored already: usually a duplicate. */
static bool handle_known(struct ingest *in, struct store_update *update,
                         struct stored_message *known) {
    const bool is_late = update->kind == UPDATE_MESSAGE && known->is_history;
    if (!complete_known(in, update, known))
        return false;
    if (update->outcome == OUTCOME_DUPLICATE)
        return true;
    if (!flow_reply_add(in, &update->message, known->id) ||
        !queue_copy(in, &update->message, known->id))
        return false;
    if (!is_late && !update->message.call)
        return true;
    return (!is_late || ingest_count(in, USAGE_IN)) && add_late_event(in, update, known);
}

/* Counts a new message. One from the phone app is sent when it arrives here; old ones do not count,
 * and calls are no messages. */
static bool count_message(struct ingest *in, const struct store_update *update) {
    if (update->kind == UPDATE_HISTORY || update->message.call)
        return true;
    if (!update->message.is_outgoing)
        return ingest_count(in, USAGE_IN);
    return ingest_count(in, USAGE_OUT) && ingest_count(in, USAGE_SENT);
}

bool ingest_message(struct ingest *in, struct store_update *update) {
    const struct update_message *message = &update->message;
    struct stored_message known;
    struct contact contact;
    struct occasion occasion = ingest_occasion(in, message->timestamp, ingest_id(in, "con_"));
    bool unused;
    identity_read_ahead(&occasion, &message->who);
    if (!stored_message_find_locked(in, message->wamid, &known, &contact))
        return false;
    if (known.is_erased)
        return ingest_skip_erased(in, update);
    if (known.id[0])
        return handle_known(in, update, &known);
    if (!identity_resolve(&occasion, &message->who, &contact))
        return false;
    if (!contact.id)
        return ingest_insert_raw(in, update, OUTCOME_NO_CONTACT);
    struct message_row row = {.id = ingest_id(in, "msg_"),
                              .thread_id = known.thread_id,
                              .source = message_sources[update->kind],
                              .status = first_status(update),
                              .message = message,
                              .body = update->body,
                              .has_events = update->kind == UPDATE_MESSAGE &&
                                            update_event_is_wanted(in, update)};
    if (!message_row_add_thread(in, contact.id, is_unread(update), &row, known.thread_id) ||
        !message_row_insert(in, &row) || !flow_reply_add(in, message, row.id) ||
        !queue_copy(in, message, row.id) || !count_message(in, update) ||
        (message->call == CALL_ANSWERED && !ingest_call_settle(in, row.id, known.thread_id)))
        return false;
    update->outcome = OUTCOME_STORED;
    if (update->kind == UPDATE_MESSAGE)
        return update_event_add_message(in, update, &contact, known.thread_id);
    /* a contact that wrote before is not a new contact later */
    return message->is_outgoing || update_event_insert_lead(in, contact.id, "new_contact", &unused);
}
