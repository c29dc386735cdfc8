/* Storing sent messages. */
#include "store/inbox/contact_find.h"

#include <stdio.h>

#include "store/claim.h"
#include "store/count/user_number.h"
#include "store/flow.h"
#include "store/inbox/change.h"
#include "store/inbox/thread.h"
#include "store/media_copy.h"
#include "store/outgoing/outgoing_row.h"
#include "store/typing.h"
#include "store/usage.h"

/* Locks the contact `id`, which the identity led to when it was read, or "", and sets the time of
 * its update. If it does not lead there any more, the contact is found again. False: there is none,
 * or on failure. */
static bool touch_contact(struct store *store, const struct store_send *send, const char *identity,
                          char id[ID_SIZE]) {
    static struct statement s = {.sql = "UPDATE contact SET updated_at = ?2 WHERE id = ?1 "
                                        "AND " CONTACT_HAS("?3", "?4")};
    for (bool is_found = *id; is_found;
         is_found = contact_find(store, send->account_id, identity, id)) {
        contact_lock(store, send->account_id, id);
        if (!sql_run(store, &s, TEXT(id), INTEGER(send->now), TEXT(send->account_id),
                     TEXT(identity)))
            return false;
        if (sql_changes(store))
            return true;
    }
    return false;
}

/* The recipient's phone as the platform writes it; NULL: it was sent to a BSUID. */
static const char *phone_of(const struct store_send *send) {
    return !send->phone ? NULL : send->wa_id ? send->wa_id : send->phone;
}

static const char *identity_of(const struct store_send *send) {
    return phone_of(send) ? phone_of(send) : send->bsuid;
}

static bool has_two_phones(const struct store_send *send) {
    return phone_of(send) && strcmp(phone_of(send), send->phone) != 0;
}

/* Touches the recipient's contact, which the platform's phone led to when it was read, or "", or
 * the caller's phone leads to; or inserts it. The platform may normalize a phone (Brazil, Mexico):
 * then both spellings lead to the contact. */
static bool touch_or_insert_contact(struct store *store, const struct store_send *send,
                                    char id[ID_SIZE]) {
    const char *phone = phone_of(send);
    const bool is_known =
        touch_contact(store, send, identity_of(send), id) ||
        (has_two_phones(send) && contact_find(store, send->account_id, send->phone, id) &&
         touch_contact(store, send, send->phone, id));
    if (sql_failed(store))
        return false;
    if (!is_known) {
        snprintf(id, ID_SIZE, "%s", send->new_contact_id);
        if (!contact_insert(store, &(struct contact){.id = id,
                                                     .account_id = send->account_id,
                                                     .phone = phone,
                                                     .bsuid = phone ? NULL : send->bsuid,
                                                     .created_at = send->now}))
            return false;
    }
    return !has_two_phones(send) ||
           contact_upsert_alias(store, send->account_id, send->phone, id, send->now);
}

/* For a flow, or a template that opens one: its replies will name the message's id, the flow token,
 * or both. */
static bool upsert_flow_token(struct store *store, const struct store_send *send,
                              const char *token) {
    static struct statement s = {
        .sql = "INSERT INTO flow_token (account_id, token, flow_id) SELECT ?1, ?2, flow_id "
               "FROM template WHERE account_id = ?1 AND name = ?3 AND language = ?4 "
               "AND flow_id IS NOT NULL ON CONFLICT (account_id, token) DO UPDATE "
               "SET flow_id = excluded.flow_id"};
    if (send->flow_id)
        return flow_token_upsert(store, send->account_id, token, send->flow_id);
    return !send->template_name || !token ||
           sql_run(store, &s, TEXT(send->account_id), TEXT(token), TEXT(send->template_name),
                   TEXT(send->template_language));
}

/* Locks the recipient's identities, which another transaction could insert as a new contact or
 * merge, and the message's id, which its status could insert. */
static bool lock_send(struct store *store, const struct store_send *send) {
    const char *const identities[] = {send->phone, send->wa_id, send->bsuid};
    sql_lock(store, LOCK_IDENTITY, send->account_id, identities, 3);
    sql_lock(store, LOCK_MESSAGE, send->account_id, &send->wamid, 1);
    return !sql_failed(store);
}

/* What is stored of the message. */
struct stored {
    char id[ID_SIZE]; /* "": nothing */
    bool has_send;    /* the send: then the call is a repetition */
};

/* Reads it, and the contact that the recipient's identity leads to, or "", in one round trip. */
static bool read_stored(struct store *store, const struct store_send *send, struct stored *stored,
                        char contact_id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT id, source = 'api' FROM message WHERE line_id = ?1 AND wamid = ?2"};
    *stored = (struct stored){0};
    sql_start(store, &s, TEXT(send->line_id), TEXT(send->wamid));
    contact_start_find(store, 0, send->account_id, identity_of(send));
    if (sql_row(store, &s)) {
        column_id(&s, 0, stored->id);
        stored->has_send = column_integer(&s, 1) != 0;
        sql_stop(&s);
    }
    if (!contact_read_found(store, 0, contact_id))
        *contact_id = '\0';
    return !sql_failed(store);
}

static bool insert_message(struct store *store, const struct store_send *send,
                           const struct thread *thread, const char *thread_id) {
    static struct statement s = {
        .sql =
            "INSERT INTO message (id, thread_id, line_id, wamid, direction, source, type, status, "
            "status_at, timestamp, context_wamid, body, created_at, user_id, changed, phone, "
            "bsuid, by_id, by_name, is_campaign, media_id) "
            "VALUES (?1, ?2, ?3, ?4, 'out', 'api', ?5, 'accepted', ?6, ?6, ?7, ?8, ?6, ?9, ?10, "
            "?11, ?12, ?13, ?14, ?15, ?16)"};
    return sql_run_later(store, &s, TEXT(send->message_id), TEXT(thread_id), TEXT(send->line_id),
                         TEXT(send->wamid), TEXT(send->type), INTEGER(send->now),
                         TEXT(send->context_wamid), BLOB(send->body), TEXT(send->user_id),
                         INTEGER(thread->change), TEXT(phone_of(send)),
                         TEXT(phone_of(send) ? NULL : send->bsuid), TEXT(send->by_id),
                         TEXT(send->by_name), INTEGER(thread->is_campaign), TEXT(send->media_id));
}

/* Completes a message that is known from its status only. */
static bool complete_message(struct store *store, const struct store_send *send, const char *id,
                             const struct thread *thread, const char *thread_id) {
    static struct statement s = {
        .sql = "UPDATE message SET thread_id = ?2, source = 'api', type = ?3, body = ?4, "
               "context_wamid = ?5, changed = ?6, timestamp = ?7, by_id = ?8, by_name = ?9, "
               "is_campaign = ?10, media_id = ?11 "
               "WHERE id = ?1 AND source = 'status'"};
    return sql_run_later(store, &s, TEXT(id), TEXT(thread_id), TEXT(send->type), BLOB(send->body),
                         TEXT(send->context_wamid), INTEGER(thread->change), INTEGER(send->now),
                         TEXT(send->by_id), TEXT(send->by_name), INTEGER(thread->is_campaign),
                         TEXT(send->media_id));
}

static bool queue_copy(struct store *store, const struct store_send *send, const char *id) {
    const struct store_media_copy copy = {.message_id = id,
                                          .user_id = send->user_id,
                                          .account_id = send->account_id,
                                          .media_id = send->archived_id};
    return !send->archived_id || media_copy_queue(store, &copy, send->now);
}

/* An answer of a member ends the member's claim of the thread, and that the member writes it. */
static bool end_claim(struct store *store, const struct store_send *send,
                      const struct thread *thread, const char *thread_id) {
    const struct actor by = {send->by_id, send->by_name};
    return !thread->is_answer || !by.id || strncmp(by.id, "mbr_", 4) != 0 ||
           (typing_end(store, thread_id, by.id) &&
            claim_answered(store, send->user_id, thread_id, &by, thread->change));
}

/* Counts the message unless its status, which arrived first, has counted it. */
static void write_message(struct store *store, const struct store_send *send,
                          const struct stored *stored, const struct thread *thread,
                          const char *thread_id) {
    if (stored->id[0]) {
        if (complete_message(store, send, stored->id, thread, thread_id) &&
            queue_copy(store, send, stored->id))
            thread_recount(store, thread_id);
    } else if (insert_message(store, send, thread, thread_id) &&
               queue_copy(store, send, send->message_id)) {
        usage_count(store, send->user_id, send->line_id, send->now, USAGE_OUT);
    }
}

/* Accepts the row of the message; one of a campaign answers nothing. */
static bool accept(struct store *store, const struct store_send *send, struct thread *thread) {
    const bool ok = outgoing_accept(store, send, &thread->is_campaign);
    thread->is_answer = !thread->is_campaign && thread_counts_type(send->type);
    return ok;
}

/* Adds the message to the recipient's thread, whose contact is locked. */
static void add_message(struct store *store, const struct store_send *send,
                        const struct stored *stored, struct thread *thread) {
    char thread_id[ID_SIZE];
    thread_read_ahead(store, thread);
    user_number_read_ahead(store, send->user_id);
    if (change_next(store, send->user_id, &thread->change) &&
        thread_upsert(store, thread, thread_id) && end_claim(store, send, thread, thread_id) &&
        upsert_flow_token(store, send, send->wamid) &&
        upsert_flow_token(store, send, send->flow_token))
        write_message(store, send, stored, thread, thread_id);
}

enum store_result store_insert_send(struct store *store, const struct store_send *send) {
    char contact_id[ID_SIZE];
    struct stored stored;
    struct thread thread = {.new_id = send->new_thread_id,
                            .user_id = send->user_id,
                            .line_id = send->line_id,
                            .contact_id = contact_id,
                            .at = send->now};
    while (sql_transact(store))
        if (lock_send(store, send) && accept(store, send, &thread) &&
            read_stored(store, send, &stored, contact_id) && !stored.has_send &&
            touch_or_insert_contact(store, send, contact_id))
            add_message(store, send, &stored, &thread);
    return sql_result(store);
}
