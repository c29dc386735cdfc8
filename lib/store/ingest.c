/* Taking in what the platform's webhooks tell. */
#include "store/ingest.h"

#include <stdio.h>

#include "base/crypto.h"
#include "store/contact.h"
#include "store/identity.h"
#include "store/outbox_entry.h"

enum { FOREIGN_WABAS_KEPT = 10 }; /* of each line */

/* One payload being taken in, and the place where the current update belongs. */
struct ingest {
    struct store *store;
    struct arena *lasting; /* until the end */
    struct arena *arena;   /* until the next update */
    int64_t now;
    event_writer *write;
    size_t events;
    const char *waba_id, *phone_number_id; /* whose place it is, as the platform names it */
    struct place {
        const char *user_id, *account_id, *waba_id;
        const char *line_id, *phone_number_id; /* NULL: the account as a whole */
        bool is_foreign; /* the line is ours, the account that it was named under is not its own */
        bool is_archived;
        bool wants_events; /* a webhook URL and code are configured */
        bool wants_status;
    } place;
};

/* Each kind's way in: returns false when the store failed, and sets the update's outcome. */
typedef bool taker(struct ingest *in, struct store_update *update);

static const char *new_id(struct ingest *in, const char *prefix) {
    char *id = arena_alloc(in->arena, ID_SIZE);
    id_make(id, prefix, in->now);
    return id;
}

static bool is_same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* --- where it belongs --- */

#define PLACE_COLUMNS                                                                              \
    "a.user_id, a.id, a.waba_id, "                                                                 \
    "coalesce(w.url <> '' AND w.code IS NOT NULL AND u.deleted_at IS NULL, 0), "                   \
    "coalesce(w.wants_message_status, 0)"

static void read_place(struct ingest *in, struct statement *s) {
    in->place = (struct place){
        .user_id = column_text(s, 0, in->lasting),
        .account_id = column_text(s, 1, in->lasting),
        .waba_id = column_text(s, 2, in->lasting),
        .wants_events = column_integer(s, 3) != 0,
        .wants_status = column_integer(s, 4) != 0,
    };
}

/* Finds the line, which must be of the account that the entry names, if it names one, or the
 * account where no line is named; user_id stays NULL when it is not ours. */
static bool find_place(struct ingest *in, const struct store_update *update) {
    static struct statement by_line = {
        .sql = "SELECT " PLACE_COLUMNS ", l.id, l.phone_number_id, l.archived_at IS NOT NULL "
               "FROM line l JOIN account a ON a.id = l.account_id "
               "JOIN user u ON u.id = a.user_id LEFT JOIN webhook w ON w.user_id = a.user_id "
               "WHERE l.phone_number_id = ?1"};
    static struct statement by_account = {
        .sql = "SELECT " PLACE_COLUMNS " FROM account a JOIN user u ON u.id = a.user_id "
               "LEFT JOIN webhook w ON w.user_id = a.user_id WHERE a.waba_id = ?1"};
    if (is_same(update->waba_id, in->waba_id) &&
        is_same(update->phone_number_id, in->phone_number_id))
        return true; /* where the one before belonged */
    in->place = (struct place){0};
    in->waba_id = update->waba_id;
    in->phone_number_id = update->phone_number_id;
    struct statement *s = update->phone_number_id ? &by_line : &by_account;
    sql_start(in->store, s,
              TEXT(update->phone_number_id ? update->phone_number_id : update->waba_id));
    if (!sql_row(in->store, s))
        return !sql_failed(in->store);
    read_place(in, s);
    if (update->phone_number_id) {
        in->place.line_id = column_text(s, 5, in->lasting);
        in->place.phone_number_id = column_text(s, 6, in->lasting);
        in->place.is_archived = column_integer(s, 7) != 0;
        in->place.is_foreign = update->waba_id && !is_same(update->waba_id, in->place.waba_id);
    }
    sql_stop(s);
    return true;
}

/* A line of ours under another account's id: skipped, and noted for `switchboard doctor`, the last
 * few of such ids for each line. */
static bool note_foreign(struct ingest *in, const struct store_update *update) {
    static struct statement add = {
        .sql = "INSERT INTO foreign_waba (line_id, waba_id, count, first_at, last_at) "
               "VALUES (?1, ?2, 1, ?3, ?3) ON CONFLICT (line_id, waba_id) DO UPDATE "
               "SET count = count + 1, last_at = excluded.last_at"};
    static struct statement forget = {
        .sql = "DELETE FROM foreign_waba WHERE line_id = ?1 AND waba_id IN "
               "(SELECT f.waba_id FROM foreign_waba f WHERE f.line_id = ?1 AND f.waba_id <> ?2 "
               " ORDER BY f.last_at DESC, f.waba_id LIMIT -1 OFFSET ?3)"};
    return sql_run(in->store, &add, TEXT(in->place.line_id), TEXT(update->waba_id),
                   INTEGER(in->now)) &&
           sql_run(in->store, &forget, TEXT(in->place.line_id), TEXT(update->waba_id),
                   INTEGER(FOREIGN_WABAS_KEPT - 1));
}

/* --- anything else: kept once, as it is --- */

static const char *update_key(struct ingest *in, const struct store_update *update) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    if (update->key)
        return update->key;
    crypto_sha256(update->body, hash);
    return arena_printf(in->arena, "sha256:%s", crypto_hex(in->arena, hash, sizeof hash));
}

static bool keep(struct ingest *in, struct store_update *update, enum store_outcome outcome) {
    static struct statement s = {
        .sql = "INSERT INTO platform_update (account_id, key, field, body, received_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (account_id, key) DO NOTHING"};
    if (!sql_run(in->store, &s, TEXT(in->place.account_id), TEXT(update_key(in, update)),
                 TEXT(update->field), BLOB(update->body), INTEGER(in->now)))
        return false;
    update->outcome = sql_changes(in->store) ? outcome : OUTCOME_DUPLICATE;
    return true;
}

/* Whoever is known by one of both names learns the other: a preference may be the first to carry
 * both. It makes nobody a contact. */
static bool take_other(struct ingest *in, struct store_update *update) {
    struct contact contact;
    if (!keep(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    if (!update->who.phone || !update->who.bsuid)
        return true;
    return identity_resolve(in->store, in->arena, in->place.account_id, &update->who, NULL, in->now,
                            &contact);
}

/* --- events --- */

static bool add_event(struct ingest *in, struct store_event *event, const struct contact *contact,
                      const char *thread_id) {
    event->user_id = in->place.user_id;
    event->now = in->now;
    event->account_id = in->place.account_id;
    event->waba_id = in->place.waba_id;
    event->phone_number_id = in->place.phone_number_id;
    event->thread_id = thread_id;
    if (contact) {
        event->contact.id = contact->id;
        event->contact.phone = contact->phone;
        event->contact.bsuid = contact->bsuid;
        event->contact.username = contact->username;
        event->contact.name = contact->name;
    }
    if (!outbox_add(in->store, in->arena, event, new_id(in, "evt_"), in->write))
        return false;
    in->events++;
    return true;
}

/* Notes that the contact is a lead from this source; *is_first when it was not one before. */
static bool note_lead(struct ingest *in, const char *contact_id, const char *source,
                      bool *is_first) {
    static struct statement s = {.sql = "INSERT INTO lead (contact_id, source, created_at) "
                                        "VALUES (?1, ?2, ?3) "
                                        "ON CONFLICT (contact_id, source) DO NOTHING"};
    if (!sql_run(in->store, &s, TEXT(contact_id), TEXT(source), INTEGER(in->now)))
        return false;
    *is_first = sql_changes(in->store) > 0;
    return true;
}

/* lead.created, once per contact and source; only noted where nobody listens. */
static bool tell_lead(struct ingest *in, const struct store_update *update,
                      const struct contact *contact, const char *thread_id, const char *source) {
    bool is_first;
    if (!note_lead(in, contact->id, source, &is_first))
        return false;
    if (!is_first || !in->place.wants_events)
        return true;
    struct store_event event = {
        .type = "lead.created",
        .source = source,
        .wamid = update->wamid,
        .referral = strcmp(source, "ad") == 0 ? update->referral : (struct slice){NULL, 0},
        .lead_event = update->kind == UPDATE_LEAD ? update->body : (struct slice){NULL, 0},
    };
    return add_event(in, &event, contact, thread_id);
}

static bool tell_message(struct ingest *in, const struct store_update *update,
                         const struct contact *contact, const char *thread_id) {
    if (!update->is_event || in->place.is_archived)
        return true;
    struct store_event event = {.type = "message.received", .message = update->body};
    if (in->place.wants_events && !add_event(in, &event, contact, thread_id))
        return false;
    return tell_lead(in, update, contact, thread_id, "new_contact") &&
           (!update->referral.n || tell_lead(in, update, contact, thread_id, "ad"));
}

/* --- messages --- */

/* A message that is on record already. */
struct known {
    char id[ID_SIZE]; /* "": there is none */
    char contact_id[ID_SIZE], thread_id[ID_SIZE];
    bool is_history; /* so far only history told of it */
};

/* The line's message with this wamid. */
static bool find_message(struct ingest *in, const char *wamid, struct known *known) {
    static struct statement s = {
        .sql = "SELECT m.id, t.contact_id, t.id, m.source = 'history' FROM message m "
               "JOIN thread t ON t.id = m.thread_id WHERE m.line_id = ?1 AND m.wamid = ?2"};
    *known = (struct known){0};
    sql_start(in->store, &s, TEXT(in->place.line_id), TEXT(wamid));
    if (!sql_row(in->store, &s))
        return !sql_failed(in->store);
    snprintf(known->id, ID_SIZE, "%s", column_text(&s, 0, in->arena));
    snprintf(known->contact_id, ID_SIZE, "%s", column_text(&s, 1, in->arena));
    snprintf(known->thread_id, ID_SIZE, "%s", column_text(&s, 2, in->arena));
    known->is_history = column_integer(&s, 3) != 0;
    sql_stop(&s);
    return true;
}

static const char *const sources[] = {
    [UPDATE_MESSAGE] = "webhook",
    [UPDATE_ECHO] = "echo",
    [UPDATE_HISTORY] = "history",
    [UPDATE_STATUS] = "status",
};

static const char *first_status(const struct store_update *update) {
    if (!update->is_outgoing)
        return "received";
    if (update->kind == UPDATE_STATUS)
        return "accepted"; /* the status itself comes next */
    return update->kind == UPDATE_HISTORY && update->status ? update->status : "sent";
}

static bool insert_message(struct ingest *in, const struct store_update *update,
                           const char *message_id, const char *thread_id) {
    static struct statement s = {
        .sql =
            "INSERT INTO message (id, thread_id, line_id, wamid, direction, source, type, status, "
            "status_at, timestamp, context_wamid, body, created_at) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12)"};
    return sql_run(in->store, &s, TEXT(message_id), TEXT(thread_id), TEXT(in->place.line_id),
                   TEXT(update->wamid), TEXT(update->is_outgoing ? "out" : "in"),
                   TEXT(sources[update->kind]), TEXT(update->type), TEXT(first_status(update)),
                   INTEGER(update->timestamp), TEXT(update->context_wamid),
                   BLOB(update->kind == UPDATE_STATUS ? SLICE("") : update->body),
                   INTEGER(in->now));
}

/* Fills in what was missing: of old media first placeholders come, of a message that a status told
 * of nothing is known but that. The message that history told of before it came is new, too. */
static bool complete_message(struct ingest *in, struct store_update *update,
                             const struct known *known) {
    static struct statement s = {
        .sql = "UPDATE message SET source = ?2, type = ?3, body = ?4, context_wamid = ?5, "
               "timestamp = ?6 WHERE id = ?1 AND ((source = 'status' AND ?2 <> 'status') "
               "OR (type = 'media_placeholder' AND ?3 <> 'media_placeholder') "
               "OR (source = 'history' AND ?2 = 'webhook'))"};
    if (!sql_run(in->store, &s, TEXT(known->id), TEXT(sources[update->kind]), TEXT(update->type),
                 BLOB(update->body), TEXT(update->context_wamid), INTEGER(update->timestamp)))
        return false;
    update->outcome = sql_changes(in->store) ? OUTCOME_STORED : OUTCOME_DUPLICATE;
    return true;
}

static bool note_flow_reply(struct ingest *in, const struct store_update *update,
                            const char *message_id) {
    static struct statement s = {
        .sql = "INSERT INTO flow_response (message_id, account_id, flow_id) VALUES (?1, ?2, "
               "(SELECT flow_id FROM flow_token WHERE account_id = ?2 AND token IN (?3, ?4) "
               " ORDER BY token = ?3 DESC LIMIT 1))"};
    static struct statement count = {
        .sql = "INSERT INTO flow_reply_count (account_id, flow_id, responses) "
               "SELECT account_id, flow_id, 1 FROM flow_response "
               "WHERE message_id = ?1 AND flow_id IS NOT NULL "
               "ON CONFLICT (account_id, flow_id) DO UPDATE "
               "SET responses = flow_reply_count.responses + 1"};
    return sql_run(in->store, &s, TEXT(message_id), TEXT(in->place.account_id),
                   TEXT(update->context_wamid), TEXT(update->flow_token)) &&
           sql_run(in->store, &count, TEXT(message_id));
}

/* A message that opened a flow: replies name its id, its token, or both. */
static bool note_flow_token(struct ingest *in, const struct store_update *update,
                            const char *token) {
    static struct statement s = {.sql = "INSERT INTO flow_token (account_id, token, flow_id) "
                                        "VALUES (?1, ?2, ?3) "
                                        "ON CONFLICT (account_id, token) DO UPDATE "
                                        "SET flow_id = excluded.flow_id"};
    return !token ||
           sql_run(in->store, &s, TEXT(in->place.account_id), TEXT(token), TEXT(update->object_id));
}

static bool note_flow(struct ingest *in, const struct store_update *update,
                      const char *message_id) {
    if (update->is_flow_reply)
        return note_flow_reply(in, update, message_id);
    if (!update->is_outgoing || !update->object_id)
        return true;
    return note_flow_token(in, update, update->wamid) &&
           note_flow_token(in, update, update->flow_token);
}

/* A message on record comes again: mostly a duplicate. */
static bool take_known(struct ingest *in, struct store_update *update, struct known *known) {
    struct contact contact;
    bool is_late = update->kind == UPDATE_MESSAGE && known->is_history;
    if (!complete_message(in, update, known))
        return false;
    if (update->outcome == OUTCOME_DUPLICATE)
        return true;
    if (!note_flow(in, update, known->id))
        return false;
    if (!is_late)
        return true;
    return identity_resolve(in->store, in->arena, in->place.account_id, &update->who, NULL, in->now,
                            &contact) &&
           find_message(in, update->wamid, known) &&
           contact_read(in->store, in->arena, known->contact_id, &contact) &&
           tell_message(in, update, &contact, known->thread_id);
}

static bool take_message(struct ingest *in, struct store_update *update) {
    struct known known;
    struct contact contact;
    bool unused;
    if (!find_message(in, update->wamid, &known))
        return false;
    if (known.id[0])
        return take_known(in, update, &known);
    if (!identity_resolve(in->store, in->arena, in->place.account_id, &update->who,
                          new_id(in, "con_"), in->now, &contact))
        return false;
    if (!contact.id)
        return keep(in, update, OUTCOME_NOBODY);
    const char *message_id = new_id(in, "msg_");
    if (!thread_touch(in->store, in->place.line_id, contact.id, new_id(in, "thr_"),
                      update->timestamp, known.thread_id) ||
        !insert_message(in, update, message_id, known.thread_id) ||
        !note_flow(in, update, message_id))
        return false;
    update->outcome = OUTCOME_STORED;
    if (update->kind == UPDATE_MESSAGE)
        return tell_message(in, update, &contact, known.thread_id);
    /* whoever wrote before is no new contact */
    return update->is_outgoing || note_lead(in, contact.id, "new_contact", &unused);
}

/* --- statuses --- */

/* The shown state never goes backwards; a failure gives way to a proof of delivery only. */
static const char *const status_ranks[] = {"accepted",  "sent", "failed",
                                           "delivered", "read", "played"};

static int status_rank(const char *status) {
    for (int i = 0; i < (int)(sizeof status_ranks / sizeof *status_ranks); i++)
        if (strcmp(status, status_ranks[i]) == 0)
            return i;
    return -1;
}

static bool raise_status(struct ingest *in, const struct store_update *update,
                         const char *message_id) {
    static struct statement read = {.sql = "SELECT status FROM message WHERE id = ?1 "
                                           "AND direction = 'out'"};
    static struct statement write = {.sql = "UPDATE message SET status = ?2, status_at = ?3, "
                                            "error = ?4 WHERE id = ?1"};
    sql_start(in->store, &read, TEXT(message_id));
    if (!sql_row(in->store, &read))
        return !sql_failed(in->store);
    const char *shown = column_text(&read, 0, in->arena);
    sql_stop(&read);
    if (status_rank(update->status) <= status_rank(shown))
        return true;
    struct slice none = {NULL, 0};
    bool is_failure = strcmp(update->status, "failed") == 0;
    return sql_run(in->store, &write, TEXT(message_id), TEXT(update->status),
                   INTEGER(update->timestamp), BLOB(is_failure ? update->errors : none));
}

static bool insert_status(struct ingest *in, struct store_update *update, const char *message_id) {
    static struct statement s = {
        .sql = "INSERT INTO message_status (message_id, status, recipient, timestamp, body, "
               "received_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
               "ON CONFLICT (message_id, status, recipient) DO NOTHING"};
    if (!sql_run(in->store, &s, TEXT(message_id), TEXT(update->status), TEXT(update->recipient),
                 INTEGER(update->timestamp), BLOB(update->body), INTEGER(in->now)))
        return false;
    update->outcome = sql_changes(in->store) ? OUTCOME_STORED : OUTCOME_DUPLICATE;
    return true;
}

/* A status of a message that was not recorded completes the record as far as it tells. */
static bool make_missing_message(struct ingest *in, const struct store_update *update,
                                 const struct contact *contact, struct known *made) {
    struct store_update message = *update;
    message.type = "unknown";
    message.is_outgoing = true;
    id_make(made->id, "msg_", in->now);
    return thread_touch(in->store, in->place.line_id, contact->id, new_id(in, "thr_"),
                        update->timestamp, made->thread_id) &&
           insert_message(in, &message, made->id, made->thread_id);
}

static bool tell_status(struct ingest *in, const struct store_update *update,
                        const struct contact *contact, const char *thread_id) {
    struct store_event event = {.type = "message.status", .status = update->body};
    if (!in->place.wants_events || !in->place.wants_status || in->place.is_archived)
        return true;
    return add_event(in, &event, contact, thread_id);
}

/* Whom we wrote to, where the message is on record: the status names them by the phone, by the
 * BSUID or by both, and what it leaves out is what we know. */
static void add_known_names(struct store_identity *who, const struct contact *known) {
    const struct store_identity told = *who;
    if (!told.phone && (!told.bsuid || !known->bsuid || is_same(told.bsuid, known->bsuid)))
        who->phone = known->phone;
    if (!told.bsuid && (!told.phone || !known->phone || is_same(told.phone, known->phone)))
        who->bsuid = known->bsuid;
}

/* The contact that a status is about; its id is NULL when there is none. */
static bool resolve_recipient(struct ingest *in, const struct store_update *update,
                              const struct known *known, struct contact *contact) {
    struct store_identity who = update->who;
    struct contact own;
    const char *made_id = known->id[0] && !update->is_participant ? NULL : new_id(in, "con_");
    if (!contact_read(in->store, in->arena, known->contact_id, &own))
        return false;
    if (own.id && !update->is_participant)
        add_known_names(&who, &own);
    if (!identity_resolve(in->store, in->arena, in->place.account_id, &who, made_id, in->now,
                          contact))
        return false;
    if (!contact->id)
        *contact = own;
    return true;
}

/* A send whose Idempotency-Key has no success to answer with: now it is known that it was one. */
static bool note_outcome(struct ingest *in, const struct store_update *update) {
    static struct statement s = {
        .sql = "UPDATE idempotency SET wamid = ?3, wa_id = ?4 WHERE request_id = ?1 "
               "AND user_id = ?2 AND wamid IS NULL AND coalesce(status, 0) <> 200"};
    return !update->tracking ||
           sql_run(in->store, &s, TEXT(update->tracking), TEXT(in->place.user_id),
                   TEXT(update->wamid), TEXT(update->is_participant ? NULL : update->who.phone));
}

static bool take_status(struct ingest *in, struct store_update *update) {
    struct known known;
    struct contact contact;
    if (!note_outcome(in, update) || !find_message(in, update->wamid, &known) ||
        !resolve_recipient(in, update, &known, &contact))
        return false;
    if (!contact.id)
        return keep(in, update, OUTCOME_NOBODY);
    if (known.id[0] ? !find_message(in, update->wamid, &known) /* the threads may be one by now */
                    : !make_missing_message(in, update, &contact, &known))
        return false;
    if (!insert_status(in, update, known.id))
        return false;
    if (update->outcome == OUTCOME_DUPLICATE)
        return true;
    return raise_status(in, update, known.id) && tell_status(in, update, &contact, known.thread_id);
}

/* --- people and leads --- */

static bool take_identity(struct ingest *in, struct store_update *update) {
    struct identity_change change = {.before = &update->before,
                                     .after = &update->who,
                                     .reason = update->type,
                                     .at = update->timestamp};
    if (!keep(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    return identity_change(in->store, in->arena, in->place.account_id, &change, new_id(in, "con_"),
                           in->now);
}

static bool take_lead(struct ingest *in, struct store_update *update) {
    struct known known = {0};
    struct contact contact = {0};
    if (!keep(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    if (in->place.is_archived)
        return true;
    if (update->wamid && !find_message(in, update->wamid, &known))
        return false;
    if (known.id[0])
        return contact_read(in->store, in->arena, known.contact_id, &contact) &&
               tell_lead(in, update, &contact, known.thread_id, "lead_event");
    struct store_event event = {.type = "lead.created",
                                .source = "lead_event",
                                .wamid = update->wamid,
                                .lead_event = update->body};
    return !in->place.wants_events || add_event(in, &event, NULL, NULL);
}

/* --- templates and flows --- */

static bool take_template(struct ingest *in, struct store_update *update) {
    static struct statement s = {
        .sql = "INSERT INTO template (account_id, name, language, template_id, status, category, "
               "reason, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
               "ON CONFLICT (account_id, name, language) DO UPDATE SET "
               "template_id = coalesce(excluded.template_id, template.template_id), "
               "status = coalesce(excluded.status, template.status), "
               "category = coalesce(excluded.category, template.category), "
               "reason = CASE WHEN excluded.status IS NULL THEN template.reason "
               "ELSE excluded.reason END, updated_at = excluded.updated_at"};
    if (!keep(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    return sql_run(in->store, &s, TEXT(in->place.account_id), TEXT(update->name),
                   TEXT(update->language), TEXT(update->object_id), TEXT(update->status),
                   TEXT(update->category), TEXT(update->reason), INTEGER(in->now));
}

static bool take_flow(struct ingest *in, struct store_update *update) {
    static struct statement s = {.sql = "UPDATE flow SET status = ?3, updated_at = ?4 "
                                        "WHERE account_id = ?1 AND flow_id = ?2"};
    if (!keep(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    return sql_run(in->store, &s, TEXT(in->place.account_id), TEXT(update->object_id),
                   TEXT(update->status), INTEGER(in->now));
}

/* --- all of it --- */

static taker *const takers[] = {
    [UPDATE_MESSAGE] = take_message,   [UPDATE_ECHO] = take_message,
    [UPDATE_HISTORY] = take_message,   [UPDATE_STATUS] = take_status,
    [UPDATE_IDENTITY] = take_identity, [UPDATE_LEAD] = take_lead,
    [UPDATE_TEMPLATE] = take_template, [UPDATE_FLOW] = take_flow,
    [UPDATE_OTHER] = take_other,
};

/* Takes one update behind a savepoint: one that breaks a rule of the database is kept as it is and
 * does not take the others with it. */
static bool take(struct ingest *in, struct store_update *update) {
    static struct statement save = {.sql = "SAVEPOINT one_update"};
    static struct statement undo = {.sql = "ROLLBACK TO one_update"};
    static struct statement release = {.sql = "RELEASE one_update"};
    if (!find_place(in, update))
        return false;
    if (!in->place.user_id || in->place.is_foreign) {
        update->outcome = OUTCOME_NOT_OURS;
        return !in->place.is_foreign || note_foreign(in, update);
    }
    size_t events = in->events;
    sql_start_with(in->store, &save, NULL, 0);
    if (sql_row(in->store, &save) || sql_failed(in->store))
        return false;
    if (!takers[update->kind](in, update)) {
        if (!sql_conflicted(in->store))
            return false;
        sql_result(in->store); /* forgiven */
        in->events = events;
        sql_start_with(in->store, &undo, NULL, 0);
        if (sql_row(in->store, &undo) || !keep(in, update, OUTCOME_REFUSED))
            return false;
    }
    sql_start_with(in->store, &release, NULL, 0);
    return !sql_row(in->store, &release) && !sql_failed(in->store);
}

enum store_result store_ingest(struct store *store, struct arena *arena,
                               struct store_update *updates, size_t count, int64_t now,
                               event_writer *write, size_t *events) {
    struct arena scratch;
    arena_init(&scratch, arena->cap, arena->exhausted);
    struct ingest in = {
        .store = store, .lasting = arena, .arena = &scratch, .now = now, .write = write};
    bool ok = sql_begin(store);
    for (size_t i = 0; ok && i < count; i++) {
        ok = take(&in, &updates[i]) && sql_is_within_limit(store);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    if (!ok)
        sql_abandon(store);
    *events = in.events;
    return sql_commit(store);
}
