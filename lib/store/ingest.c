/* Storing the updates of webhook payloads. */
#include "store/ingest.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "store/change.h"
#include "store/contact.h"
#include "store/flow_token.h"
#include "store/forward_entry.h"
#include "store/identity.h"
#include "store/outbox_entry.h"
#include "store/usage_tally.h"
#include "store/user_number.h"
#include "store/webhook_match.h"

enum {
    FOREIGN_WABAS_KEPT = 10, /* for each line */
    MOST_FOREIGN = 64,       /* lines and WABA ids of a payload that are counted together */
};

/* A payload in progress, with the owner of the current update. */
struct ingest {
    struct store *store;
    struct arena *lasting; /* for the whole call */
    struct arena *arena;   /* reset after each update */
    int64_t now;
    event_writer *write;
    size_t events;
    struct user_numbers numbers;
    struct usage_tally usage;
    struct buffer webhooks; /* of struct webhook_list: those of each user of the payload */
    size_t foreign_count;
    struct foreign {
        const char *line_id, *waba_id; /* a line, and the WABA id of another account */
        int64_t count;                 /* of skipped updates */
    } foreign[MOST_FOREIGN];
    struct owner {
        const char *user_id, *account_id, *waba_id;
        const char *line_id, *phone_number_id; /* NULL: the update is about the account */
        bool is_foreign; /* the line is known, but it belongs to another account than waba_id */
        bool is_archived;
    } owner;
};

/* Consecutive updates with the same owner: those before the index `end` that are in no run before.
 */
struct run {
    struct owner owner;
    size_t end;
};

/* Stores an update of one kind and sets its outcome. Returns false when the store failed. */
typedef bool handler(struct ingest *in, struct store_update *update);

static const char *new_id(struct ingest *in, const char *prefix) {
    char *id = arena_alloc(in->arena, ID_SIZE);
    id_make(id, prefix, in->now);
    return id;
}

/* --- the owner of an update --- */

#define OWNER_COLUMNS "a.user_id, a.id, a.waba_id"

static void read_owner(struct ingest *in, struct statement *s) {
    in->owner = (struct owner){
        .user_id = column_text(s, 0, in->lasting),
        .account_id = column_text(s, 1, in->lasting),
        .waba_id = column_text(s, 2, in->lasting),
    };
}

/* Finds the owner of an update: the line, or the account where it names no line. is_foreign: the
 * line belongs to another account than the entry's WABA id. user_id stays NULL when there is no
 * such line or account. */
static bool find_owner(struct ingest *in, const struct store_update *update) {
    static struct statement by_line = {
        .sql = "SELECT " OWNER_COLUMNS ", l.id, l.phone_number_id, l.archived_at IS NOT NULL "
               "FROM line l JOIN account a ON a.id = l.account_id WHERE l.phone_number_id = ?1"};
    static struct statement by_account = {.sql = "SELECT " OWNER_COLUMNS
                                                 " FROM account a WHERE a.waba_id = ?1"};
    in->owner = (struct owner){0};
    struct statement *s = update->phone_number_id ? &by_line : &by_account;
    sql_start(in->store, s,
              TEXT(update->phone_number_id ? update->phone_number_id : update->waba_id));
    if (!sql_row(in->store, s))
        return !sql_failed(in->store);
    read_owner(in, s);
    if (update->phone_number_id) {
        in->owner.line_id = column_text(s, 3, in->lasting);
        in->owner.phone_number_id = column_text(s, 4, in->lasting);
        in->owner.is_archived = column_integer(s, 5) != 0;
        in->owner.is_foreign =
            update->waba_id && !is_equal_or_both_null(update->waba_id, in->owner.waba_id);
    }
    sql_stop(s);
    return true;
}

/* Finds the owners of all updates; false on failure. Adds the runs to `runs`. */
static bool find_owners(struct ingest *in, const struct store_update *updates, size_t count,
                        struct buffer *runs) {
    for (size_t i = 0; i < count;) {
        const struct store_update *first = &updates[i];
        if (!find_owner(in, first) || !sql_is_within_limit(in->store))
            return false;
        while (i < count && is_equal_or_both_null(updates[i].waba_id, first->waba_id) &&
               is_equal_or_both_null(updates[i].phone_number_id, first->phone_number_id))
            i++;
        const struct run run = {in->owner, i};
        buffer_add(runs, &run, sizeof run);
    }
    return true;
}

/* Inserts or counts a foreign WABA. The latest ones of each line are kept. A repetition of the call
 * has the same time: it counts nothing. */
static bool upsert_foreign(struct ingest *in, const struct foreign *foreign) {
    static struct statement add = {
        .sql = "INSERT INTO foreign_waba (line_id, waba_id, count, first_at, last_at) "
               "VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (line_id, waba_id) DO UPDATE "
               "SET count = foreign_waba.count + excluded.count, last_at = excluded.last_at "
               "WHERE foreign_waba.last_at <> excluded.last_at"};
    static struct statement delete_oldest = {
        .sql = "DELETE FROM foreign_waba WHERE line_id = ?1 AND waba_id IN "
               "(SELECT f.waba_id FROM foreign_waba f WHERE f.line_id = ?1 AND f.waba_id <> ?2 "
               " ORDER BY f.last_at DESC, f.waba_id LIMIT 100 OFFSET ?3)"};
    return sql_run(in->store, &add, TEXT(foreign->line_id), TEXT(foreign->waba_id),
                   INTEGER(foreign->count), INTEGER(in->now)) &&
           sql_run(in->store, &delete_oldest, TEXT(foreign->line_id), TEXT(foreign->waba_id),
                   INTEGER(FOREIGN_WABAS_KEPT - 1));
}

static int compare_foreign(const void *a, const void *b) {
    const struct foreign *first = a, *second = b;
    const int order = strcmp(first->line_id, second->line_id);
    return order ? order : strcmp(first->waba_id, second->waba_id);
}

/* Transactions take the rows in the same order. */
static bool upsert_all_foreign(struct ingest *in) {
    qsort(in->foreign, in->foreign_count, sizeof *in->foreign, compare_foreign);
    for (size_t i = 0; i < in->foreign_count; i++)
        if (!upsert_foreign(in, &in->foreign[i]))
            return false;
    in->foreign_count = 0;
    return true;
}

/* Counts a skipped update: its line belongs to another account. `switchboard doctor` shows the WABA
 * ids of such updates. They are written at the end of the payload, once for each line and WABA id;
 * in a payload with more of them than fit, an id that comes back later is not counted again. */
static bool count_foreign(struct ingest *in, const struct store_update *update) {
    size_t i = 0;
    while (i < in->foreign_count && (strcmp(in->foreign[i].line_id, in->owner.line_id) != 0 ||
                                     strcmp(in->foreign[i].waba_id, update->waba_id) != 0))
        i++;
    if (i == MOST_FOREIGN) {
        if (!upsert_all_foreign(in))
            return false;
        i = 0;
    }
    if (i == in->foreign_count)
        in->foreign[in->foreign_count++] = (struct foreign){in->owner.line_id, update->waba_id, 0};
    in->foreign[i].count++;
    return true;
}

/* --- usage --- */

/* Counts a message of the update's line. */
static bool count_usage(struct ingest *in, enum usage_measure measure) {
    struct usage_line *line =
        usage_of_line(in->store, &in->usage, in->owner.user_id, in->owner.line_id);
    if (line && measure < USAGE_MEASURES)
        line->counts[measure]++;
    return line != NULL;
}

/* --- other updates: stored once, as they are --- */

static const char *key_of(struct ingest *in, const struct store_update *update) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    if (update->key)
        return update->key;
    crypto_sha256(update->body, hash);
    return arena_printf(in->arena, "sha256:%s", crypto_hex(in->arena, hash, sizeof hash));
}

static bool insert_platform_update(struct ingest *in, struct store_update *update,
                                   enum store_outcome outcome) {
    static struct statement s = {
        .sql = "INSERT INTO platform_update (account_id, key, field, body, received_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (account_id, key) DO NOTHING"};
    if (!sql_run(in->store, &s, TEXT(in->owner.account_id), TEXT(key_of(in, update)),
                 TEXT(update->field), BLOB(update->body), INTEGER(in->now)))
        return false;
    update->outcome = sql_changes(in->store) ? outcome : OUTCOME_DUPLICATE;
    return true;
}

/* Stores the update. A preference may be the first update that has a person's phone and BSUID
 * together: then the contact gets both. Inserts no contact. */
static bool handle_other(struct ingest *in, struct store_update *update) {
    struct contact contact;
    if (!insert_platform_update(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    const struct store_identity *who = &update->other.who;
    if (!who->phone || !who->bsuid)
        return true;
    return identity_resolve(in->store, in->arena, in->owner.account_id, who, NULL, in->now,
                            &contact);
}

/* --- events --- */

/* Inserts a delivery for each webhook that wants the event. The event is inserted with the first.
 */
static bool deliver_event(struct ingest *in, struct store_event *event) {
    const char *id = NULL;
    struct webhook_list webhooks;
    if (!webhook_match_once(in->store, &in->webhooks, event->user_id, &webhooks))
        return false;
    for (size_t i = 0; i < webhooks.count; i++) {
        const struct webhook_match *webhook = &webhooks.list[i];
        if (!webhook_match_event(webhook, event->type, event->line_id))
            continue;
        if (!id &&
            !outbox_add(in->store, in->arena, event, id = new_id(in, "evt_"), in->write, NULL))
            return false;
        if (!outbox_deliver(in->store, event, id, webhook->id, event->contact.id))
            return false;
    }
    in->events += id != NULL;
    return true;
}

/* Adds an event, unless no webhook wants it. */
static bool add_event(struct ingest *in, struct store_event *event, const struct contact *contact,
                      const char *thread_id) {
    event->user_id = in->owner.user_id;
    event->now = in->now;
    event->account_id = in->owner.account_id;
    event->waba_id = in->owner.waba_id;
    event->line_id = in->owner.line_id;
    event->phone_number_id = in->owner.phone_number_id;
    event->thread_id = thread_id;
    if (contact) {
        event->contact.id = contact->id;
        event->contact.phone = contact->phone;
        event->contact.bsuid = contact->bsuid;
        event->contact.username = contact->username;
        event->contact.name = contact->name;
    }
    return deliver_event(in, event);
}

/* Inserts the contact as a lead from this source; *is_first: it was none before. */
static bool insert_lead(struct ingest *in, const char *contact_id, const char *source,
                        bool *is_first) {
    static struct statement s = {.sql =
                                     "INSERT INTO lead (user_id, contact_id, source, created_at) "
                                     "VALUES (?1, ?2, ?3, ?4) "
                                     "ON CONFLICT (contact_id, source) DO NOTHING"};
    if (!sql_run(in->store, &s, TEXT(in->owner.user_id), TEXT(contact_id), TEXT(source),
                 INTEGER(in->now)))
        return false;
    *is_first = sql_changes(in->store) > 0;
    return true;
}

/* Inserts the lead from the event's source, and the event lead.created once per contact and source.
 * Without a configured webhook only the lead is inserted. */
static bool add_lead(struct ingest *in, struct store_event *event, const struct contact *contact,
                     const char *thread_id) {
    bool is_first;
    event->type = "lead.created";
    if (!insert_lead(in, contact->id, event->source, &is_first))
        return false;
    return !is_first || add_event(in, event, contact, thread_id);
}

static bool add_message_events(struct ingest *in, const struct store_update *update,
                               const struct contact *contact, const char *thread_id) {
    const struct update_message *message = &update->message;
    if (!message->is_event || in->owner.is_archived)
        return true;
    struct store_event event = {.type = "message.received", .message = update->body};
    struct store_event lead = {.source = "new_contact", .wamid = message->wamid};
    struct store_event ad = {
        .source = "ad", .wamid = message->wamid, .referral = message->referral};
    if (!add_event(in, &event, contact, thread_id))
        return false;
    return add_lead(in, &lead, contact, thread_id) &&
           (!message->referral.n || add_lead(in, &ad, contact, thread_id));
}

/* --- messages --- */

/* A stored message. */
struct known {
    char id[ID_SIZE]; /* "": none */
    char contact_id[ID_SIZE], thread_id[ID_SIZE];
    bool is_history; /* only a history update has mentioned it so far */
};

/* The line's message with this wamid. */
static bool find_message(struct ingest *in, const char *wamid, struct known *known) {
    static struct statement s = {
        .sql = "SELECT m.id, t.contact_id, t.id, m.source = 'history' FROM message m "
               "JOIN thread t ON t.id = m.thread_id WHERE m.line_id = ?1 AND m.wamid = ?2"};
    *known = (struct known){0};
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

/* The same, and locks the contact of the message until the transaction ends, so that no other one
 * merges it and moves the message to another thread. */
static bool find_known(struct ingest *in, const char *wamid, struct known *known,
                       struct contact *contact) {
    *contact = (struct contact){0};
    do {
        if (!find_message(in, wamid, known))
            return false;
        if (!known->id[0])
            return true;
        contact_lock(in->store, in->owner.account_id, known->contact_id);
        if (!contact_read(in->store, in->arena, known->contact_id, contact))
            return false;
    } while (!contact->id); /* it was merged before it was locked */
    return true;
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

/* A message to insert. */
struct message_row {
    const char *id, *thread_id, *source, *status;
    const struct update_message *message;
    struct slice body;
    int64_t change;
};

/* Whether the message counts as unread: the contact wrote it now, as opposed to the history of the
 * business app, and it is a message of its own. store_mark_read counts the same ones. */
static bool is_unread(const struct store_update *update) {
    static const char *const silent[] = {"edit", "revoke", "reaction"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcmp(update->message.type, silent[i]) == 0)
            return false;
    return update->kind == UPDATE_MESSAGE;
}

/* Upserts the thread of a new message, and takes the number of the change, which `row` gets. */
static bool upsert_thread(struct ingest *in, const char *contact_id, bool counts_as_unread,
                          struct message_row *row, char id[ID_SIZE]) {
    struct thread thread = {.new_id = new_id(in, "thr_"),
                            .user_id = in->owner.user_id,
                            .line_id = in->owner.line_id,
                            .contact_id = contact_id,
                            .at = row->message->timestamp,
                            .is_inbound = !row->message->is_outgoing,
                            .is_unread = counts_as_unread};
    if (!change_next(in->store, in->owner.user_id, &thread.change) ||
        !thread_upsert(in->store, &thread, id))
        return false;
    row->change = thread.change;
    return true;
}

static bool insert_message(struct ingest *in, const struct message_row *row) {
    static struct statement s = {
        .sql =
            "INSERT INTO message (id, thread_id, line_id, wamid, direction, source, type, status, "
            "status_at, timestamp, context_wamid, body, created_at, user_id, changed) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12, ?13, ?14)"};
    const struct update_message *message = row->message;
    return sql_run(in->store, &s, TEXT(row->id), TEXT(row->thread_id), TEXT(in->owner.line_id),
                   TEXT(message->wamid), TEXT(message->is_outgoing ? "out" : "in"),
                   TEXT(row->source), TEXT(message->type), TEXT(row->status),
                   INTEGER(message->timestamp), TEXT(message->context_wamid), BLOB(row->body),
                   INTEGER(in->now), TEXT(in->owner.user_id), INTEGER(row->change));
}

/* Gives the stored message and its thread the next number of a change. */
static bool change_message(struct ingest *in, const struct known *known) {
    static struct statement s = {.sql = "UPDATE message SET changed = ?2 WHERE id = ?1"};
    int64_t change;
    return change_next(in->store, in->owner.user_id, &change) &&
           sql_run(in->store, &s, TEXT(known->id), INTEGER(change)) &&
           change_thread(in->store, known->thread_id, change);
}

/* Completes a stored message: one that is known only from a status, an old media message whose
 * placeholder arrived first, or one that a history update contained before its own update arrived.
 * The last one counts as new. */
static bool complete_message(struct ingest *in, struct store_update *update,
                             const struct known *known) {
    static struct statement s = {
        .sql = "UPDATE message SET source = ?2, type = ?3, body = ?4, context_wamid = ?5, "
               "timestamp = ?6 WHERE id = ?1 AND ((source = 'status' AND ?2 <> 'status') "
               "OR (type = 'media_placeholder' AND ?3 <> 'media_placeholder') "
               "OR (source = 'history' AND ?2 = 'webhook'))"};
    const struct update_message *message = &update->message;
    if (!sql_run(in->store, &s, TEXT(known->id), TEXT(message_sources[update->kind]),
                 TEXT(message->type), BLOB(update->body), TEXT(message->context_wamid),
                 INTEGER(message->timestamp)))
        return false;
    update->outcome = sql_changes(in->store) ? OUTCOME_STORED : OUTCOME_DUPLICATE;
    return update->outcome == OUTCOME_DUPLICATE || change_message(in, known);
}

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

static bool add_flow_rows(struct ingest *in, const struct update_message *message,
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

static bool raise_unread(struct ingest *in, const char *thread_id) {
    static struct statement s = {.sql = "UPDATE thread SET unread = unread + 1 WHERE id = ?1"};
    return sql_run(in->store, &s, TEXT(thread_id));
}

/* Handles an update for a message that is stored already: usually a duplicate. */
static bool handle_known(struct ingest *in, struct store_update *update, struct known *known) {
    struct contact contact;
    bool is_late = update->kind == UPDATE_MESSAGE && known->is_history;
    if (!complete_message(in, update, known))
        return false;
    if (update->outcome == OUTCOME_DUPLICATE)
        return true;
    if (!add_flow_rows(in, &update->message, known->id))
        return false;
    if (!is_late)
        return true;
    return count_usage(in, USAGE_IN) &&
           identity_resolve(in->store, in->arena, in->owner.account_id, &update->message.who, NULL,
                            in->now, &contact) &&
           find_message(in, update->message.wamid, known) &&
           contact_read(in->store, in->arena, known->contact_id, &contact) &&
           (!is_unread(update) || raise_unread(in, known->thread_id)) &&
           add_message_events(in, update, &contact, known->thread_id);
}

/* Counts a new message. One from the phone app is sent when it arrives here; old ones do not count.
 */
static bool count_message(struct ingest *in, const struct store_update *update) {
    if (update->kind == UPDATE_HISTORY)
        return true;
    if (!update->message.is_outgoing)
        return count_usage(in, USAGE_IN);
    return count_usage(in, USAGE_OUT) && count_usage(in, USAGE_SENT);
}

static bool handle_message(struct ingest *in, struct store_update *update) {
    const struct update_message *message = &update->message;
    struct known known;
    struct contact contact;
    bool unused;
    if (!find_known(in, message->wamid, &known, &contact))
        return false;
    if (known.id[0])
        return handle_known(in, update, &known);
    if (!identity_resolve(in->store, in->arena, in->owner.account_id, &message->who,
                          new_id(in, "con_"), in->now, &contact))
        return false;
    if (!contact.id)
        return insert_platform_update(in, update, OUTCOME_NO_CONTACT);
    struct message_row row = {.id = new_id(in, "msg_"),
                              .thread_id = known.thread_id,
                              .source = message_sources[update->kind],
                              .status = first_status(update),
                              .message = message,
                              .body = update->body};
    if (!upsert_thread(in, contact.id, is_unread(update), &row, known.thread_id) ||
        !insert_message(in, &row) || !add_flow_rows(in, message, row.id) ||
        !count_message(in, update))
        return false;
    update->outcome = OUTCOME_STORED;
    if (update->kind == UPDATE_MESSAGE)
        return add_message_events(in, update, &contact, known.thread_id);
    /* a contact that wrote before is not a new contact later */
    return message->is_outgoing || insert_lead(in, contact.id, "new_contact", &unused);
}

/* --- statuses --- */

/* A message's status never goes back. Only a status that proves delivery replaces `failed`. */
enum { RANK_SENT = 1, RANK_FAILED, RANK_DELIVERED, RANK_READ };
static const char *const status_ranks[] = {"accepted",  "sent", "failed",
                                           "delivered", "read", "played"};

static int status_rank(const char *status) {
    for (int i = 0; i < (int)(sizeof status_ranks / sizeof *status_ranks); i++)
        if (strcmp(status, status_ranks[i]) == 0)
            return i;
    return -1;
}

/* Counts the states that a message reaches when its rank rises; each once, because it never falls.
 * The platform names the category with the status that proves delivery. */
static bool count_rise(struct ingest *in, const struct update_status *status, int from, int to) {
    if (to == RANK_FAILED)
        return count_usage(in, USAGE_FAILED);
    return (from >= RANK_SENT || to < RANK_SENT || count_usage(in, USAGE_SENT)) &&
           (from >= RANK_DELIVERED || to < RANK_DELIVERED ||
            (count_usage(in, USAGE_DELIVERED) && count_usage(in, usage_find(status->category)))) &&
           (from >= RANK_READ || to < RANK_READ || count_usage(in, USAGE_READ));
}

/* Raises the message's status to a status that was inserted, and gives message and thread the next
 * number of a change. */
static bool raise_status(struct ingest *in, const struct update_status *status,
                         const struct known *known) {
    static struct statement read = {.sql = "SELECT status FROM message WHERE id = ?1 "
                                           "AND direction = 'out'"};
    static struct statement write = {.sql = "UPDATE message SET status = ?2, status_at = ?3, "
                                            "error = ?4, changed = ?5 WHERE id = ?1"};
    static struct statement touch = {.sql = "UPDATE message SET changed = ?2 WHERE id = ?1"};
    const char *shown = NULL;
    int64_t change;
    if (!change_next(in->store, in->owner.user_id, &change) ||
        !change_thread(in->store, known->thread_id, change))
        return false;
    sql_start(in->store, &read, TEXT(known->id));
    if (sql_row(in->store, &read)) {
        shown = column_text(&read, 0, in->arena);
        sql_stop(&read);
    }
    const int to = status_rank(status->status), from = shown ? status_rank(shown) : to;
    if (to <= from)
        return sql_run(in->store, &touch, TEXT(known->id), INTEGER(change));
    if (!count_rise(in, status, from, to))
        return false;
    struct slice none = {NULL, 0};
    bool is_failure = strcmp(status->status, "failed") == 0;
    return sql_run(in->store, &write, TEXT(known->id), TEXT(status->status),
                   INTEGER(status->timestamp), BLOB(is_failure ? status->errors : none),
                   INTEGER(change));
}

static bool insert_status(struct ingest *in, struct store_update *update, const char *message_id) {
    static struct statement s = {
        .sql =
            "INSERT INTO message_status (user_id, message_id, status, recipient, timestamp, body, "
            "received_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
            "ON CONFLICT (message_id, status, recipient) DO NOTHING"};
    const struct update_status *status = &update->status;
    if (!sql_run(in->store, &s, TEXT(in->owner.user_id), TEXT(message_id), TEXT(status->status),
                 TEXT(status->recipient), INTEGER(status->timestamp), BLOB(update->body),
                 INTEGER(in->now)))
        return false;
    update->outcome = sql_changes(in->store) ? OUTCOME_STORED : OUTCOME_DUPLICATE;
    return true;
}

/* Inserts a message that is known only from its status: its type and body are unknown.
 * raise_status sets its status. */
static bool insert_missing_message(struct ingest *in, const struct update_status *status,
                                   const struct contact *contact, struct known *made) {
    const struct update_message message = {.wamid = status->wamid,
                                           .type = "unknown",
                                           .timestamp = status->timestamp,
                                           .is_outgoing = true};
    struct message_row row = {.id = made->id,
                              .thread_id = made->thread_id,
                              .source = "status",
                              .status = "accepted",
                              .message = &message,
                              .body = SLICE("")};
    id_make(made->id, "msg_", in->now);
    return upsert_thread(in, contact->id, false, &row, made->thread_id) &&
           insert_message(in, &row) && count_usage(in, USAGE_OUT);
}

static bool add_status_event(struct ingest *in, const struct store_update *update,
                             const struct contact *contact, const char *thread_id) {
    struct store_event event = {.type = "message.status", .status = update->body};
    return in->owner.is_archived || add_event(in, &event, contact, thread_id);
}

/* Adds the phone and the BSUID of the message's contact where the status does not have them, unless
 * the identity that it has contradicts the contact's. */
static void add_known_identities(struct store_identity *who, const struct contact *known) {
    const struct store_identity given = *who;
    if (!given.phone &&
        (!given.bsuid || !known->bsuid || is_set_and_equal(given.bsuid, known->bsuid)))
        who->phone = known->phone;
    if (!given.bsuid &&
        (!given.phone || !known->phone || is_set_and_equal(given.phone, known->phone)))
        who->bsuid = known->bsuid;
}

/* Finds the contact that the status is about; its id is NULL when there is none. `own` is that of
 * the message; its id is NULL when the message is not stored. */
static bool resolve_recipient(struct ingest *in, const struct update_status *status,
                              const struct contact *own, struct contact *contact) {
    struct store_identity who = status->who;
    const char *made_id = own->id && !status->is_participant ? NULL : new_id(in, "con_");
    if (own->id && !status->is_participant)
        add_known_identities(&who, own);
    if (!identity_resolve(in->store, in->arena, in->owner.account_id, &who, made_id, in->now,
                          contact))
        return false;
    if (!contact->id)
        *contact = *own;
    return true;
}

/* The status proves that the platform accepted the send: stores its wamid with the idempotency key,
 * if the key holds no successful answer. */
static bool update_idempotency_key(struct ingest *in, const struct update_status *status) {
    static struct statement s = {
        .sql = "UPDATE idempotency SET wamid = ?3, wa_id = ?4 WHERE request_id = ?1 "
               "AND user_id = ?2 AND wamid IS NULL AND coalesce(status, 0) <> 200"};
    return !status->tracking ||
           sql_run(in->store, &s, TEXT(status->tracking), TEXT(in->owner.user_id),
                   TEXT(status->wamid), TEXT(status->is_participant ? NULL : status->who.phone));
}

/* Whether this very status is stored: then the update is a repetition. Another body may have
 * identities that the stored one lacks. */
static bool find_same_status(struct ingest *in, const struct store_update *update,
                             const char *message_id, bool *is_same) {
    static struct statement s = {
        .sql = "SELECT 1 FROM message_status WHERE message_id = ?1 AND status = ?2 "
               "AND recipient = ?3 AND body = ?4"};
    sql_start(in->store, &s, TEXT(message_id), TEXT(update->status.status),
              TEXT(update->status.recipient), BLOB(update->body));
    if ((*is_same = sql_row(in->store, &s)))
        sql_stop(&s);
    return !sql_failed(in->store);
}

/* Inserts the status of a stored message; *is_repeated: it is stored already, byte for byte. */
static bool insert_known_status(struct ingest *in, struct store_update *update,
                                const char *message_id, bool *is_repeated) {
    *is_repeated = false;
    return insert_status(in, update, message_id) &&
           (update->outcome != OUTCOME_DUPLICATE ||
            find_same_status(in, update, message_id, is_repeated));
}

static bool handle_status(struct ingest *in, struct store_update *update) {
    const struct update_status *status = &update->status;
    struct known known;
    struct contact own, contact;
    bool is_repeated;
    if (!update_idempotency_key(in, status) || !find_known(in, status->wamid, &known, &own))
        return false;
    const bool is_known = known.id[0];
    if (is_known && !insert_known_status(in, update, known.id, &is_repeated))
        return false;
    if (is_known && is_repeated)
        return true;
    if (!resolve_recipient(in, status, &own, &contact))
        return false;
    if (!contact.id)
        return insert_platform_update(in, update, OUTCOME_NO_CONTACT);
    /* read again: merging contacts may have changed the message's thread */
    if (is_known ? !find_message(in, status->wamid, &known)
                 : !insert_missing_message(in, status, &contact, &known) ||
                       !insert_status(in, update, known.id))
        return false;
    if (update->outcome == OUTCOME_DUPLICATE)
        return true;
    return raise_status(in, status, &known) &&
           add_status_event(in, update, &contact, known.thread_id);
}

/* --- identities and leads --- */

static bool handle_identity(struct ingest *in, struct store_update *update) {
    struct identity_change change = {.before = &update->identity.before,
                                     .after = &update->identity.after,
                                     .reason = update->identity.reason,
                                     .at = update->identity.at};
    if (!insert_platform_update(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    return identity_change(in->store, in->arena, in->owner.account_id, &change, new_id(in, "con_"),
                           in->now);
}

static bool handle_lead(struct ingest *in, struct store_update *update) {
    const char *wamid = update->lead.wamid;
    struct known known = {0};
    struct contact contact = {0};
    if (!insert_platform_update(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    if (in->owner.is_archived)
        return true;
    if (wamid && !find_known(in, wamid, &known, &contact))
        return false;
    struct store_event event = {
        .type = "lead.created", .source = "lead_event", .wamid = wamid, .lead_event = update->body};
    if (known.id[0])
        return add_lead(in, &event, &contact, known.thread_id);
    return add_event(in, &event, NULL, NULL);
}

/* --- templates and flows --- */

static bool handle_template(struct ingest *in, struct store_update *update) {
    static struct statement s = {
        .sql = "INSERT INTO template (account_id, name, language, template_id, status, category, "
               "reason, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
               "ON CONFLICT (account_id, name, language) DO UPDATE SET "
               "template_id = coalesce(excluded.template_id, template.template_id), "
               "status = coalesce(excluded.status, template.status), "
               "category = coalesce(excluded.category, template.category), "
               "reason = CASE WHEN excluded.status IS NULL THEN template.reason "
               "ELSE excluded.reason END, updated_at = excluded.updated_at"};
    if (!insert_platform_update(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    const struct update_template *state = &update->template;
    return sql_run(in->store, &s, TEXT(in->owner.account_id), TEXT(state->name),
                   TEXT(state->language), TEXT(state->template_id), TEXT(state->status),
                   TEXT(state->category), TEXT(state->reason), INTEGER(in->now));
}

static bool handle_flow(struct ingest *in, struct store_update *update) {
    static struct statement s = {.sql = "UPDATE flow SET status = ?3, updated_at = ?4 "
                                        "WHERE account_id = ?1 AND flow_id = ?2"};
    if (!insert_platform_update(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    return sql_run(in->store, &s, TEXT(in->owner.account_id), TEXT(update->flow.flow_id),
                   TEXT(update->flow.status), INTEGER(in->now));
}

/* --- all updates --- */

static handler *const handlers[] = {
    [UPDATE_MESSAGE] = handle_message,   [UPDATE_ECHO] = handle_message,
    [UPDATE_HISTORY] = handle_message,   [UPDATE_STATUS] = handle_status,
    [UPDATE_IDENTITY] = handle_identity, [UPDATE_LEAD] = handle_lead,
    [UPDATE_TEMPLATE] = handle_template, [UPDATE_FLOW] = handle_flow,
    [UPDATE_OTHER] = handle_other,
};

/* The usage of the update's line. Its line may have none yet, and an update may have no line. */
static bool copy_usage(struct ingest *in, struct usage_line *copy) {
    const struct usage_line *line =
        in->owner.line_id
            ? usage_of_line(in->store, &in->usage, in->owner.user_id, in->owner.line_id)
            : NULL;
    if (line)
        *copy = *line;
    return line || !in->owner.line_id;
}

/* Restores the usage of the update's line, whose update is undone. */
static void restore_usage(struct ingest *in, const struct usage_line *copy) {
    if (in->owner.line_id)
        *usage_of_line(in->store, &in->usage, in->owner.user_id, in->owner.line_id) = *copy;
}

/* Handles one update within a savepoint: an update that violates a constraint is stored as it is,
 * and the other updates of the payload are kept. */
static bool handle(struct ingest *in, struct store_update *update) {
    static struct statement save = {.sql = "SAVEPOINT one_update"};
    static struct statement undo = {.sql = "ROLLBACK TO one_update"};
    static struct statement release = {.sql = "RELEASE one_update"};
    if (!in->owner.user_id || in->owner.is_foreign) {
        update->outcome = OUTCOME_NO_OWNER;
        return !in->owner.is_foreign || count_foreign(in, update);
    }
    const enum store_outcome earlier = update->outcome;
    const size_t events = in->events, webhooks = in->webhooks.n;
    const struct user_numbers numbers = in->numbers;
    struct usage_line usage;
    if (!copy_usage(in, &usage))
        return false;
    sql_start_with(in->store, &save, NULL, 0);
    if (sql_row(in->store, &save) || sql_failed(in->store))
        return false;
    if (!handlers[update->kind](in, update)) {
        if (!sql_conflicted(in->store))
            return false;
        sql_result(in->store); /* clears the error */
        in->events = events;
        in->numbers = numbers;
        in->webhooks.n = webhooks; /* the lock under which they were read is undone too */
        restore_usage(in, &usage);
        sql_start_with(in->store, &undo, NULL, 0);
        if (sql_row(in->store, &undo) || !insert_platform_update(in, update, OUTCOME_REFUSED))
            return false;
    }
    if (update->outcome == OUTCOME_DUPLICATE && sql_may_have_committed(in->store))
        update->outcome = earlier; /* it is stored since an earlier run */
    sql_start_with(in->store, &release, NULL, 0);
    return !sql_row(in->store, &release) && !sql_failed(in->store);
}

/* --- locks --- */

/* The identities and the ids of messages that the updates of an account name. */
struct names {
    const char **identities, **messages; /* NULL: the names are only counted */
    size_t identity_count, message_count;
};

static void add_message_id(struct names *names, const char *wamid) {
    if (wamid && names->messages)
        names->messages[names->message_count] = wamid;
    names->message_count += wamid != NULL;
}

static void add_who(struct names *names, const struct store_identity *who) {
    const char *const identities[] = {who->phone, who->bsuid, who->parent_bsuid};
    for (size_t i = 0; i < 3; i++) {
        if (identities[i] && names->identities)
            names->identities[names->identity_count] = identities[i];
        names->identity_count += identities[i] != NULL;
    }
}

static void add_names(struct names *names, const struct store_update *update) {
    switch (update->kind) {
    case UPDATE_MESSAGE:
    case UPDATE_ECHO:
    case UPDATE_HISTORY:
        add_who(names, &update->message.who);
        add_message_id(names, update->message.wamid);
        return;
    case UPDATE_STATUS:
        add_who(names, &update->status.who);
        add_message_id(names, update->status.wamid);
        return;
    case UPDATE_IDENTITY:
        add_who(names, &update->identity.before);
        add_who(names, &update->identity.after);
        return;
    case UPDATE_LEAD: add_message_id(names, update->lead.wamid); return;
    case UPDATE_OTHER: add_who(names, &update->other.who); return;
    case UPDATE_TEMPLATE:
    case UPDATE_FLOW: return;
    }
}

/* Adds the names of all updates of the account. */
static void add_all_names(struct names *names, const char *account_id,
                          const struct store_update *updates, const struct run *runs,
                          size_t count) {
    for (size_t run = 0, i = 0; run < count; i = runs[run++].end)
        for (; i < runs[run].end && is_set_and_equal(runs[run].owner.account_id, account_id); i++)
            add_names(names, &updates[i]);
}

/* Finds the account with the least id after `after`; NULL: there is none. */
static const char *next_account(const struct run *runs, size_t count, const char *after) {
    const char *least = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *id = runs[i].owner.account_id;
        if (id && strcmp(id, after) > 0 && (!least || strcmp(id, least) < 0))
            least = id;
    }
    return least;
}

/* Locks the counters of the users, if there are several: one is locked when it is raised. */
static void lock_users(struct ingest *in, const struct run *runs, size_t count) {
    const char **users = arena_alloc(in->arena, count * sizeof *users);
    bool are_several = false;
    for (size_t i = 0, last = 0; i < count; i++) {
        users[i] = runs[i].owner.user_id;
        are_several =
            are_several || (users[i] && users[last] && strcmp(users[i], users[last]) != 0);
        last = users[i] ? i : last;
    }
    if (are_several)
        sql_lock(in->store, LOCK_COUNTERS, NULL, users, count);
}

/* Locks what the updates name before anything of it is read, account by account in the order of
 * their ids, so that payloads with the same names wait for each other in the same order. Without
 * names a lock would be that of the whole account. */
static void lock_updates(struct ingest *in, const struct store_update *updates,
                         const struct run *runs, size_t count) {
    for (const char *id = ""; (id = next_account(runs, count, id));) {
        struct names names = {0};
        add_all_names(&names, id, updates, runs, count);
        names.identities = arena_alloc(in->arena, names.identity_count * sizeof(char *));
        names.messages = arena_alloc(in->arena, names.message_count * sizeof(char *));
        names.identity_count = names.message_count = 0;
        add_all_names(&names, id, updates, runs, count);
        if (names.identity_count)
            sql_lock(in->store, LOCK_IDENTITY, id, names.identities, names.identity_count);
        if (names.message_count)
            sql_lock(in->store, LOCK_MESSAGE, id, names.messages, names.message_count);
        arena_reset(in->arena);
    }
    lock_users(in, runs, count);
    arena_reset(in->arena);
}

static bool handle_all(struct ingest *in, const struct store_payload *payload) {
    struct store_update *updates = payload->updates;
    struct buffer found = buffer_in(in->lasting);
    if (!find_owners(in, updates, payload->count, &found))
        return false;
    const struct run *runs = (const struct run *)(void *)found.p;
    lock_updates(in, updates, runs, found.n / sizeof *runs);
    for (size_t i = 0; i < payload->count; i++) {
        if (i == runs->end)
            runs++;
        in->owner = runs->owner;
        if (!handle(in, &updates[i]) || !sql_is_within_limit(in->store))
            return false;
        arena_reset(in->arena);
    }
    return upsert_all_foreign(in) && usage_write(in->store, &in->usage);
}

enum store_result store_ingest(struct store *store, struct arena *arena,
                               struct store_payload *payload) {
    struct arena scratch;
    arena_init(&scratch, arena->cap, arena->exhausted);
    payload->events = 0;
    while (sql_transact(store)) {
        struct ingest in = {.store = store,
                            .lasting = arena,
                            .arena = &scratch,
                            .webhooks = buffer_in(arena),
                            .now = payload->now,
                            .write = payload->write,
                            .usage = {.now = payload->now}};
        arena_reset(&scratch);
        user_number_collect(store, &in.numbers);
        if (!handle_all(&in, payload) ||
            (payload->post && !forward_insert(store, &scratch, payload->post, &in.webhooks,
                                              payload->now, &in.events)))
            sql_abandon(store);
        user_number_write(store);
        if (in.events || !sql_may_have_committed(store))
            payload->events = in.events;
    }
    arena_free(&scratch);
    return sql_result(store);
}
