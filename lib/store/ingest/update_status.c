/* Statuses of a payload. */
#include <string.h>

#include "store/inbox/change.h"
#include "store/ingest/identity.h"
#include "store/ingest/message_row.h"
#include "store/ingest/update_event.h"
#include "store/opt_out.h"
#include "store/outgoing.h"
#include "store/outgoing/campaign_count.h"
#include "store/outgoing/outgoing_row.h"

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
        return ingest_count(in, USAGE_FAILED);
    return (from >= RANK_SENT || to < RANK_SENT || ingest_count(in, USAGE_SENT)) &&
           (from >= RANK_DELIVERED || to < RANK_DELIVERED ||
            (ingest_count(in, USAGE_DELIVERED) &&
             ingest_count(in, usage_find(status->category)))) &&
           (from >= RANK_READ || to < RANK_READ || ingest_count(in, USAGE_READ));
}

/* What is shown of a message; status NULL: it is no outgoing one. */
struct shown {
    const char *status;
    struct slice error;
};

static const struct row_layout shown_layout =
    ROW_LAYOUT(struct shown, ROW_MEMBER(struct shown, status), ROW_MEMBER(struct shown, error));

static bool read_shown(struct ingest *in, const char *message_id, struct shown *shown) {
    static struct statement s = {.sql = "SELECT status, error FROM message WHERE id = ?1 "
                                        "AND direction = 'out'"};
    *shown = (struct shown){0};
    sql_start(in->store, &s, TEXT(message_id));
    row_find(in->store, &s, in->arena, &shown_layout, shown);
    return !sql_failed(in->store);
}

/* The same for the campaign that sends the message; once that was deleted, by what its row has. */
static bool count_campaign(struct ingest *in, const struct update_status *status,
                           const char *message_id, const struct shown *shown,
                           struct outgoing_row *row) {
    char code[OUTGOING_CODE_SIZE];
    if (!status->tracking && !outgoing_find_row(in->store, message_id, row))
        return false;
    const bool is_of_row = *row->delivery;
    const char *const from = is_of_row ? row->delivery : shown->status;
    if (!*row->campaign_id || status_rank(status->status) <= status_rank(from))
        return true;
    const bool was_held = row->is_held && strcmp(from, "accepted") == 0;
    const struct slice error =
        strcmp(status->status, "failed") == 0 ? status->errors : (struct slice){NULL, 0};
    if (!is_of_row)
        outgoing_read_code(shown->error, row->code);
    outgoing_read_code(error, code);
    return campaign_count_delivery(in->store, row->campaign_id, was_held ? "held" : from,
                                   status->status) &&
           campaign_count_error(in->store, row->campaign_id, row->code, -1) &&
           campaign_count_error(in->store, row->campaign_id, code, 1) &&
           (!is_of_row || outgoing_set_delivery(in->store, row->id, status->status, error));
}

/* Raises the message's status to a status that was inserted, and gives message and thread the next
 * number of a change. */
static bool raise_status(struct ingest *in, const struct update_status *status,
                         const struct stored_message *known, struct outgoing_row *row) {
    static struct statement write = {.sql = "UPDATE message SET status = ?2, status_at = ?3, "
                                            "error = ?4, changed = ?5 WHERE id = ?1"};
    struct shown shown;
    int64_t change;
    if (!change_next(in->store, in->owner.user_id, &change) ||
        !thread_change(in->store, known->thread_id, change) || !read_shown(in, known->id, &shown))
        return false;
    const int to = status_rank(status->status),
              from = shown.status ? status_rank(shown.status) : to;
    if (to <= from)
        return message_row_change(in->store, known->id, change);
    if (!count_rise(in, status, from, to) || !count_campaign(in, status, known->id, &shown, row))
        return false;
    struct slice none = {NULL, 0};
    bool is_failure = to == RANK_FAILED;
    if ((is_failure || from == RANK_FAILED) && !thread_recount(in->store, known->thread_id))
        return false; /* a message that failed answers nothing */
    return sql_run_later(in->store, &write, TEXT(known->id), TEXT(status->status),
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
                                   const struct contact *contact, const struct outgoing_row *of,
                                   struct stored_message *made) {
    const struct update_message message = {.who = status->who,
                                           .wamid = status->wamid,
                                           .type = "unknown",
                                           .timestamp = status->timestamp,
                                           .is_outgoing = true};
    struct message_row row = {.id = made->id,
                              .thread_id = made->thread_id,
                              .source = "status",
                              .status = "accepted",
                              .message = &message,
                              .body = SLICE(""),
                              .is_campaign = *of->campaign_id != '\0'};
    id_make(made->id, "msg_", in->now);
    return message_row_add_thread(in, contact->id, false, &row, made->thread_id) &&
           message_row_insert(in, &row) && ingest_count(in, USAGE_OUT);
}

static bool add_status_event(struct ingest *in, const struct store_update *update,
                             const struct contact *contact, const char *thread_id) {
    struct store_event event = {
        .type = "message.status", .wamid = update->status.wamid, .status = update->body};
    return in->owner.is_archived || update_event_add(in, &event, contact, thread_id);
}

/* Adds the phone and the BSUID of the message where the status does not have them, unless the
 * identity that it has contradicts the message's. */
static void add_known_identities(struct contact *who, const struct contact *known) {
    const struct contact given = *who;
    if (!given.phone &&
        (!given.bsuid || !known->bsuid || is_set_and_equal(given.bsuid, known->bsuid)))
        who->phone = known->phone;
    if (!given.bsuid &&
        (!given.phone || !known->phone || is_set_and_equal(given.phone, known->phone)))
        who->bsuid = known->bsuid;
}

/* What the status shows of the send: its time and its recipient. */
struct sent {
    int64_t at;
    bool is_dated;            /* false: `at` is when the message was read, perhaps long after it */
    struct contact recipient; /* phone and bsuid alone: as the message has them */
};

/* What the status alone shows of it. */
static struct sent sent_of_status(const struct update_status *status) {
    return (struct sent){.at = status->timestamp,
                         .is_dated = strcmp(status->status, "read") != 0 &&
                                     strcmp(status->status, "played") != 0};
}

/* Reads it of the stored message: when the platform first reported of it, the status in progress
 * included, because the recipient may have another number when a later status arrives. A send of
 * the API has the gateway's time, which decides nothing. */
static bool read_sent(struct ingest *in, const char *message_id, struct sent *sent) {
    static struct statement s = {
        .sql = "SELECT phone, bsuid, CASE WHEN source <> 'api' THEN timestamp END, "
               "(SELECT min(s.timestamp) FROM message_status s WHERE s.message_id = message.id), "
               "(SELECT count(*) FROM message_status s WHERE s.message_id = message.id "
               "AND s.status NOT IN ('read', 'played')), "
               "CASE WHEN source IN ('api', 'status') THEN 0 ELSE 1 END "
               "FROM message WHERE id = ?1"};
    sql_start(in->store, &s, TEXT(message_id));
    if (!sql_row(in->store, &s))
        return !sql_failed(in->store);
    sent->recipient.phone = column_text(&s, 0, in->arena);
    sent->recipient.bsuid = column_text(&s, 1, in->arena);
    const int64_t own_at = column_time(&s, 2), status_at = column_time(&s, 3);
    sent->at = own_at < sent->at ? own_at : sent->at;
    sent->at = status_at < sent->at ? status_at : sent->at;
    sent->is_dated = column_integer(&s, 4) || column_integer(&s, 5);
    sql_stop(&s);
    return true;
}

/* Finds the contact that the status is about; its id is NULL when there is none. `own` is that of
 * the message; its id is NULL when the message is not stored. */
static bool resolve_recipient(struct ingest *in, const struct update_status *status,
                              const struct sent *sent, const struct contact *own,
                              struct contact *contact) {
    struct contact who = status->who;
    const char *made_id = own->id && !status->is_participant ? NULL : ingest_id(in, "con_");
    if (own->id && !status->is_participant)
        add_known_identities(&who, &sent->recipient);
    /* Since the send another person may have got the phone, and the recipient another BSUID: a
     * reading alone shows that this BSUID exists, and not when. */
    const bool is_dated = sent->is_dated || !who.bsuid;
    if (!is_dated)
        who.phone = NULL;
    const struct occasion occasion = ingest_occasion(in, is_dated ? sent->at : 1, made_id);
    if (!identity_resolve(&occasion, &who, contact))
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
           sql_run_later(in->store, &s, TEXT(status->tracking), TEXT(in->owner.user_id),
                         TEXT(status->wamid),
                         TEXT(status->is_participant ? NULL : status->who.phone));
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
    *is_same = row_exists(in->store, &s);
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

/* The recipient of a message that failed because it wants no marketing has opted out. */
static bool add_opt_out(struct ingest *in, const struct update_status *status) {
    const struct opt_out_names names = {status->who.phone, status->who.bsuid};
    const int64_t since = status->timestamp < in->now ? status->timestamp : in->now;
    return !status->opts_out ||
           opt_out_insert(in->store, in->owner.account_id, &names, "error", since);
}

bool ingest_status(struct ingest *in, struct store_update *update) {
    const struct update_status *status = &update->status;
    struct stored_message known;
    struct contact own, contact;
    struct outgoing_row row;
    bool is_repeated;
    struct sent sent = sent_of_status(status);
    if (!stored_message_find_locked(in, status->wamid, &known, &own))
        return false;
    if (known.is_erased)
        return ingest_skip_erased(in, update);
    if (!update_idempotency_key(in, status) ||
        !outgoing_confirm(in->store, in->owner.user_id, status->tracking, status->wamid, in->now,
                          &row))
        return false;
    const bool is_known = known.id[0];
    if (is_known && !insert_known_status(in, update, known.id, &is_repeated))
        return false;
    if (is_known && is_repeated)
        return true;
    if (is_known && !read_sent(in, known.id, &sent))
        return false;
    if (!resolve_recipient(in, status, &sent, &own, &contact))
        return false;
    if (!contact.id)
        return ingest_insert_raw(in, update, OUTCOME_NO_CONTACT);
    /* read again: merging contacts may have changed the message's thread */
    if (is_known ? !stored_message_find(in, status->wamid, &known)
                 : !insert_missing_message(in, status, &contact, &row, &known) ||
                       !insert_status(in, update, known.id))
        return false;
    if (update->outcome == OUTCOME_DUPLICATE)
        return true;
    return add_opt_out(in, status) && raise_status(in, status, &known, &row) &&
           add_status_event(in, update, &contact, known.thread_id);
}
