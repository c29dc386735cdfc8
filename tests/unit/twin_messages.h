/* Twins that send and receive messages, and that merge contacts (twin.h). */
#ifndef SWITCHBOARD_TEST_TWIN_MESSAGES_H
#define SWITCHBOARD_TEST_TWIN_MESSAGES_H

#include "store/assignment.h"
#include "store/block.h"
#include "store/campaign.h"
#include "store/claim.h"
#include "store/contact_split.h"
#include "store/done_mark.h"
#include "store/flow.h"
#include "store/forward.h"
#include "store/media_copy.h"
#include "store/note.h"
#include "store/opt_out.h"
#include "store/outgoing.h"
#include "store/read_mark.h"
#include "store/typing.h"
#include "twin.h"

/* The body of an event: its sequence and the contact's phone. */
static inline struct slice write_event(struct arena *to, const struct store_event *event) {
    return slice_of(arena_printf(to, "%lld %s", (long long)event->sequence,
                                 event->contact.phone ? event->contact.phone : "0"));
}

static inline struct store_update update_of(enum store_update_kind kind) {
    return (struct store_update){.kind = kind,
                                 .field = "messages",
                                 .waba_id = waba,
                                 .phone_number_id = line_name,
                                 .body = SLICE("{}")};
}

static inline struct store_update message_of(const char *wamid, const char *phone,
                                             const char *bsuid) {
    struct store_update update = update_of(UPDATE_MESSAGE);
    update.message = (struct update_message){.who = {.phone = phone, .bsuid = bsuid},
                                             .wamid = wamid,
                                             .type = "text",
                                             .timestamp = now + 1000,
                                             .is_event = true};
    return update;
}

static inline struct store_update status_of(const char *wamid, const char *status,
                                            const char *phone, const char *bsuid) {
    struct store_update update = update_of(UPDATE_STATUS);
    update.status = (struct update_status){.who = {.phone = phone, .bsuid = bsuid},
                                           .wamid = wamid,
                                           .status = status,
                                           .recipient = "",
                                           .timestamp = now};
    return update;
}

/* The platform reports that the BSUID `before` became `after`. */
static inline struct store_update change_of(const char *before, const char *after) {
    struct store_update update = update_of(UPDATE_IDENTITY);
    update.key = text("change-%s", before);
    update.identity = (struct update_identity){.before = {.bsuid = before},
                                               .after = {.bsuid = after},
                                               .reason = "user_id_update",
                                               .at = now};
    return update;
}

static inline void ingest_all(struct store_update *updates, size_t count) {
    struct store_payload payload = {.updates = updates,
                                    .count = count,
                                    .now = case_time,
                                    .write = write_event,
                                    .archives_media = true};
    if (!does(store_ingest(store, &scratch, &payload)))
        return;
    for (size_t i = 0; i < count; i++)
        if (updates[i].outcome != OUTCOME_STORED && updates[i].outcome != OUTCOME_DUPLICATE)
            fault("an update has the outcome %d", (int)updates[i].outcome);
}

static inline void ingest(struct store_update update) {
    ingest_all(&update, 1);
}

static inline void send_by(const char *member_id, const char *phone, const char *wa_id,
                           const char *wamid) {
    struct store_send send = {.by_id = member_id,
                              .by_name = member_id,
                              .user_id = user_id,
                              .account_id = account_id,
                              .line_id = line_id,
                              .phone = phone,
                              .wa_id = wa_id,
                              .wamid = wamid,
                              .type = "text",
                              .body = SLICE("{}"),
                              .now = now};
    id_make(send.new_contact_id, "con_", now);
    id_make(send.new_thread_id, "thr_", now);
    id_make(send.message_id, "msg_", now);
    does(store_insert_send(store, &send));
}

static inline void send_to(const char *phone, const char *wa_id, const char *wamid) {
    send_by(NULL, phone, wa_id, wamid);
}

#define OF_ACCOUNT(table) "SELECT count(*) FROM " table " WHERE account_id = '%s'", account_id
#define OF_LINE(table)    "SELECT count(*) FROM " table " WHERE line_id = '%s'", line_id
#define OF_USER(table)    "SELECT count(*) FROM " table " WHERE user_id = '%s'", user_id
#define USAGE_OF(measure)                                                                          \
    "SELECT CAST(sum(count) AS BIGINT) FROM usage WHERE measure = '" measure                       \
    "' AND line_id = '%s'",                                                                        \
        line_id

/* --- a new recipient; half of the sends are answered with another spelling of the phone --- */

static inline void send_to_new(int twin, int round) {
    send_to(text("1%d", round), twin % 2 ? text("2%d", round) : NULL,
            text("wamid.%d.%d", round, twin));
}

static inline void verify_new_recipients(int rounds) {
    holds(rounds, OF_ACCOUNT("contact"));
    holds(rounds, OF_LINE("thread"));
    holds(rounds * TWINS, OF_LINE("message"));
    holds(rounds * TWINS, USAGE_OF("out"));
}

/* --- a send and its statuses, which know the recipient by the BSUID --- */

static inline void send_and_report(int twin, int round) {
    static const char *const statuses[] = {"",     "sent",      "delivered", "read",
                                           "sent", "delivered", "read",      "sent"};
    const char *phone = text("1%d", round), *bsuid = text("US.%d", round);
    const char *wamid = text("wamid.%d", round);
    if (twin == 0)
        send_to(phone, NULL, wamid);
    else {
        struct store_update update = status_of(wamid, statuses[twin], twin > 3 ? phone : NULL,
                                               twin < 4 || twin == 7 ? bsuid : NULL);
        update.body = slice_of(text("{\"twin\":%d}", twin));
        ingest(update);
    }
}

static inline void verify_reports(int rounds) {
    holds(rounds, OF_ACCOUNT("contact"));
    holds(rounds, OF_LINE("message"));
    holds(rounds,
          "SELECT count(*) FROM message WHERE line_id = '%s' AND status = 'read' "
          "AND source = 'api'",
          line_id);
    holds(rounds, USAGE_OF("out"));
    holds(rounds, USAGE_OF("sent"));
    holds(rounds, USAGE_OF("delivered"));
    holds(rounds, USAGE_OF("read"));
}

/* --- messages of a new person, by phone, by BSUID and by both --- */

static inline void receive_from_new(int twin, int round) {
    ingest(message_of(text("wamid.%d.%d", round, twin), twin % 3 != 1 ? text("1%d", round) : NULL,
                      twin % 3 != 0 ? text("US.%d", round) : NULL));
}

static inline void verify_new_persons(int rounds) {
    holds(rounds, OF_ACCOUNT("contact"));
    holds(rounds, OF_LINE("thread"));
    holds(rounds * TWINS, OF_LINE("message"));
    holds(rounds * TWINS, USAGE_OF("in"));
    holds(rounds * TWINS,
          "SELECT count(*) FROM event WHERE user_id = '%s' AND type = 'message.received'", user_id);
    holds(rounds * TWINS, "SELECT CAST(sum(unread) AS BIGINT) FROM thread WHERE line_id = '%s'",
          line_id);
}

/* --- one payload that the platform posts several times --- */

static inline void receive_again(int twin, int round) {
    (void)twin;
    ingest(message_of(text("wamid.%d", round), text("1%d", round), text("US.%d", round)));
}

static inline void verify_one_message(int rounds) {
    holds(rounds, OF_ACCOUNT("contact"));
    holds(rounds, OF_LINE("message"));
    holds(2 * rounds, OF_USER("event"));
    holds(rounds, USAGE_OF("in"));
}

/* --- a merge of two contacts, and calls that name one of them otherwise --- */

enum { PAIRS = 40 };
static char pair_ids[PAIRS][ID_SIZE]; /* of the contacts with the phones 1... */

/* Inserts pairs of contacts: phone 1N and BSUID US.1.N, phone 2N and BSUID US.2.N. */
static inline void make_pairs(void) {
    struct store_update *updates = arena_alloc(&arena, 2 * PAIRS * sizeof *updates);
    for (int i = 0; i < 2 * PAIRS; i++)
        updates[i] = message_of(text("wamid.first.%d", i), text("%d%d", 1 + i % 2, i / 2),
                                text("US.%d.%d", 1 + i % 2, i / 2));
    ingest_all(updates, 2 * PAIRS);
    for (int i = 0; i < PAIRS; i++)
        check_ok(store_find_person(store, account_id, text("1%d", i), NULL, pair_ids[i]));
}

static inline void block_by_phone(int round, bool blocks) {
    struct store_block block = {
        .phone_number_id = line_name, .phone = text("1%d", round), .now = now};
    bool was_blocked;
    id_make(block.contact_id, "con_", now);
    if (blocks)
        does(store_block_contact(store, &block));
    else
        does(store_unblock_contact(store, &block, &was_blocked));
}

static inline void block_by_id(int round, bool blocks) {
    struct store_owner_block block = {.view = WHOLE_VIEW(user_id),
                                      .contact_id = pair_ids[round],
                                      .phone_number_id = line_name,
                                      .now = now};
    if (blocks)
        does(store_block(store, &scratch, &block));
    else
        does(store_unblock(store, &scratch, &block));
}

static inline void report_lead(int round) {
    struct store_update update = update_of(UPDATE_LEAD);
    update.key = text("lead-%d", round);
    update.lead.wamid = text("wamid.first.%d", 2 * round);
    ingest(update);
}

static inline void merge(int twin, int round) {
    if (round >= PAIRS)
        return;
    switch (twin) {
    case 0: ingest(change_of(text("US.1.%d", round), text("US.2.%d", round))); return;
    case 1: send_to(text("1%d", round), NULL, text("wamid.sent.1.%d", round)); return;
    case 2: send_to(text("2%d", round), NULL, text("wamid.sent.2.%d", round)); return;
    case 3: ingest(message_of(text("wamid.in.1.%d", round), text("1%d", round), NULL)); return;
    case 4: ingest(message_of(text("wamid.in.2.%d", round), text("2%d", round), NULL)); return;
    case 5: block_by_phone(round, true); return;
    case 6: block_by_id(round, true); return;
    default: report_lead(round);
    }
}

static inline void verify_merges(int rounds) {
    rounds = rounds < PAIRS ? rounds : PAIRS;
    holds(2 * PAIRS - rounds, OF_ACCOUNT("contact"));
    holds(2 * PAIRS - rounds, OF_LINE("thread"));
    holds(2 * PAIRS + 4 * rounds, OF_LINE("message"));
    holds(rounds, OF_LINE("contact_block"));
}

/* --- a merge of a blocked contact whose block ends --- */

static inline void make_blocked_pairs(void) {
    make_pairs();
    change(arena_printf(&arena,
                        "INSERT INTO contact_block (user_id, line_id, contact_id, created_at) "
                        "SELECT '%s', '%s', id, 1 FROM contact WHERE account_id = '%s' "
                        "AND phone LIKE '1%%'",
                        user_id, line_id, account_id));
}

/* Four pairs in a round: a twin merges the pair, another one ends the block while it does so. */
static inline void unblock(int twin, int round) {
    const int pair = round * TWINS / 2 + twin / 2;
    if (pair >= PAIRS)
        return;
    if (twin % 2) {
        pause_twin(round, 15);
        if (round % 2)
            block_by_phone(pair, false);
        else
            block_by_id(pair, false);
    } else {
        ingest(change_of(text("US.1.%d", pair), text("US.2.%d", pair)));
    }
}

static inline void verify_unblocked(int rounds) {
    holds(rounds * TWINS / 2 < PAIRS ? PAIRS - rounds * TWINS / 2 : 0, OF_LINE("contact_block"));
}

/* --- a merge that the operator undoes --- */

static inline void make_merged_pairs(void) {
    make_pairs();
    for (int i = 0; i < PAIRS; i++)
        ingest(change_of(text("US.1.%d", i), text("US.2.%d", i)));
}

static inline void split_merged(int twin, int round) {
    struct store_contact_split split = {.identity = text("US.%d.%d", 1 + twin % 2, round),
                                        .now = now};
    if (round >= PAIRS)
        return;
    split.contact_id = pair_ids[round];
    switch (twin) {
    case 0:
    case 1: does(store_split_contact(store, &scratch, &split)); return;
    case 2: send_to(text("1%d", round), NULL, text("wamid.sent.1.%d", round)); return;
    case 3: send_to(text("2%d", round), NULL, text("wamid.sent.2.%d", round)); return;
    case 4: ingest(message_of(text("wamid.in.1.%d", round), NULL, text("US.1.%d", round))); return;
    case 5: ingest(message_of(text("wamid.in.2.%d", round), NULL, text("US.2.%d", round))); return;
    case 6: ingest(change_of(text("US.1.%d", round), text("US.2.%d", round))); return;
    default: block_by_id(round, true);
    }
}

static inline void verify_split(int rounds) {
    rounds = rounds < PAIRS ? rounds : PAIRS;
    holds(PAIRS + rounds, OF_ACCOUNT("contact"));
    holds(2 * PAIRS + 4 * rounds, OF_LINE("message"));
    holds(0,
          "SELECT count(*) FROM message m JOIN thread t ON t.id = m.thread_id "
          "JOIN contact c ON c.id = t.contact_id WHERE m.line_id = '%s' AND m.direction = 'in' "
          "AND m.bsuid <> c.bsuid AND substr(m.bsuid, 6) IN (SELECT substr(new_bsuid, 6) "
          "FROM identity_change WHERE account_id = '%s' AND refused_at IS NOT NULL)",
          line_id, account_id);
}

/* --- blocks of new contacts, to which others send --- */

static inline void block_new(int twin, int round) {
    if (twin % 2)
        block_by_phone(round, true);
    else
        send_to(text("1%d", round), NULL, text("wamid.%d.%d", round, twin));
}

static inline void verify_blocked(int rounds) {
    holds(rounds, OF_ACCOUNT("contact"));
    holds(rounds, OF_LINE("contact_block"));
}

/* --- read marks, while messages arrive --- */

static char first_message[ID_SIZE], read_thread[ID_SIZE];

static inline void make_thread(void) {
    struct store_update update = message_of("wamid.first", "15550001", NULL);
    update.message.timestamp = now;
    ingest(update);
    snprintf(first_message, ID_SIZE, "%s",
             ask_text(text("SELECT id FROM message WHERE line_id = '%s'", line_id)));
    snprintf(read_thread, ID_SIZE, "%s",
             ask_text(text("SELECT id FROM thread WHERE line_id = '%s'", line_id)));
}

static inline void mark_read(int twin, int round) {
    int64_t unread;
    if (twin % 2)
        does(store_mark_read(store, WHOLE_VIEW(user_id), read_thread, first_message, &unread));
    else
        ingest(message_of(text("wamid.%d.%d", round, twin), "15550001", NULL));
}

static inline void verify_unread(int rounds) {
    holds(rounds * TWINS / 2, "SELECT unread FROM thread WHERE id = '%s'", read_thread);
}

/* --- notices of typing, while messages arrive --- */

static inline void note_typing(int twin, int round) {
    if (twin % 2)
        does(store_note_typing(store, WHOLE_VIEW(user_id), read_thread,
                               twin % 4 == 1 ? "mbr_1" : "mbr_2",
                               now + round * (int64_t)TYPING_EVERY_MS));
    else
        ingest(message_of(text("wamid.%d.%d", round, twin), "15550001", NULL));
}

static inline void verify_typing(int rounds) {
    holds(rounds * TWINS / 2 + 1, "SELECT unread FROM thread WHERE id = '%s'", read_thread);
    holds(1, "SELECT count(*) FROM thread WHERE id = '%s' AND typing_by LIKE 'mbr_%%'",
          read_thread);
}

/* --- marks as done, while messages arrive --- */

static inline void mark_done(int twin, int round) {
    struct store_done left;
    int64_t unread;
    if (twin % 3 == 0)
        does(store_mark_done(store, WHOLE_VIEW(user_id), read_thread, round * TWINS, now, &left));
    else if (twin % 3 == 1 && round % 2)
        does(store_mark_unread(store, WHOLE_VIEW(user_id), read_thread, &unread));
    else if (twin % 3 == 1)
        does(store_unmark_done(store, WHOLE_VIEW(user_id), read_thread, &left));
    else
        ingest(message_of(text("wamid.%d.%d", round, twin), "15550001", NULL));
}

static inline void verify_done(int rounds) {
    (void)rounds;
    holds(0,
          "SELECT count(*) FROM thread t WHERE t.id = '%s' AND coalesce(t.waiting_since, 0) <> "
          "coalesce((SELECT min(m.timestamp) FROM message m WHERE m.thread_id = t.id "
          "AND m.done_at IS NULL), 0)",
          read_thread);
}

/* --- assignments of a thread --- */

static inline const char *agent_of(int round) {
    return text("mbr_%s.%d", user_id, round / 3);
}

static inline void add_agent(int round) {
    const struct store_new_member member = {.id = agent_of(round),
                                            .user_id = user_id,
                                            .email = text("a%d.%s", round / 3, email),
                                            .name = "x",
                                            .role = ROLE_AGENT,
                                            .created_by = "x",
                                            .now = now};
    enum member_refusal refusal;
    does(store_add_member(store, &member, &refusal));
}

static inline bool assign(const char *member_id, bool has_from) {
    const struct store_assignment assignment = {.view = WHOLE_VIEW(user_id),
                                                .thread_id = read_thread,
                                                .member_id = member_id,
                                                .has_from = has_from};
    struct actor assignee;
    enum assignment_refusal refusal = ASSIGNMENT_NOT_REFUSED;
    return does(store_assign(store, &scratch, &assignment, &assignee, &refusal)) && !refusal;
}

/* Two members take it: one gets it. */
static inline void take_thread(int twin, int round) {
    if (is_phase(round, 0, 3) && twin == 0) {
        add_agent(round);
        assign(NULL, false);
    } else if (is_phase(round, 1, 3) && twin < 2) {
        if (assign(twin ? agent_of(round) : member_of(user_id), true))
            atomic_fetch_add(&board->cells[round], 1);
    } else if (is_phase(round, 2, 3) && twin == 0 && board->cells[round - 1] != 1) {
        fault("%d members have taken the thread", board->cells[round - 1]);
    }
}

/* It is assigned to a member who is removed, or may not answer it any more. */
static inline void assign_removed(int twin, int round) {
    const int kind = round / 3 % 3;
    const struct store_member_change change = {.user_id = user_id,
                                               .member_id = agent_of(round),
                                               .role = kind == 1 ? ROLE_VIEWER : ROLE_NONE,
                                               .sets_lines = kind == 2,
                                               .line_ids = "lin_none"};
    enum member_refusal refusal;
    if (is_phase(round, 0, 3) && twin == 0)
        add_agent(round);
    else if (is_phase(round, 1, 3) && twin)
        assign(agent_of(round), false);
    else if (is_phase(round, 1, 3))
        does(kind ? store_change_member(store, &scratch, &change, &refusal)
                  : store_remove_member(store, &scratch, &change, &refusal));
    else if (is_phase(round, 2, 3) && twin == 0 &&
             ask(text("SELECT count(*) FROM thread WHERE assignee_id = '%s'", agent_of(round))))
        fault("the thread is assigned to a member who may not answer");
}

/* --- queued sends: each is taken once, by the sender that has the lease --- */

static inline struct store_outgoing outgoing_row(const char *id, const char *retry_of) {
    return (struct store_outgoing){.id = id,
                                   .user_id = user_id,
                                   .account_id = account_id,
                                   .line_id = line_id,
                                   .recipient = id,
                                   .body = SLICE("{}"),
                                   .retry_of = retry_of,
                                   .send_at = 1,
                                   .expires_at = now + 1000000,
                                   .created_at = now};
}

static const struct store_addressee to_anyone = {.view = &(const struct store_view){0}};

static inline void insert_outgoing(const char *id) {
    const struct store_outgoing row = outgoing_row(id, NULL);
    does(store_insert_outgoing(store, &to_anyone, &row));
}

/* Each twin has an own row for that. */
static inline void retry_outgoing(const char *id, int twin) {
    const struct store_outgoing row = outgoing_row(text("%s_%d", id, twin), id);
    bool is_of_colleague;
    may(store_retry_outgoing(store, &to_anyone, &row, &is_of_colleague), STORE_CONFLICT);
}

static inline void take_outgoing(const char *owner) {
    const char *take_id = new_id("tak_");
    const struct store_take take = {owner, take_id, line_id, 4, now};
    struct store_outgoing *rows;
    size_t count;
    if (!does(store_take_outgoing(store, &scratch, &take, &rows, &count)))
        return;
    for (size_t i = 0; i < count; i++)
        does(store_end_outgoing(store, &(struct outgoing_outcome){.id = rows[i].id,
                                                                  .owner = owner,
                                                                  .take_id = take_id,
                                                                  .state = "failed",
                                                                  .now = now,
                                                                  .write = write_event}));
}

static inline void send_outgoing(int twin, int round) {
    const char *id = text("out_%s_%d", user_id, round), *owner = text("snd_%d", twin);
    bool is_held;
    size_t count;
    insert_outgoing(id);
    does(store_correct_outgoing(store, now - 7200000)); /* as if the clock was set back */
    if (does(store_hold_sender_lease(store, owner, now, &is_held)) && is_held) {
        take_outgoing(owner);
        does(store_end_sender_lease(store, owner, now));
    }
    does(store_expire_outgoing(store, now, &count));
    may(store_cancel_outgoing(store, WHOLE_VIEW(user_id), id, now), STORE_CONFLICT);
    retry_outgoing(id, twin);
    may(store_delete_old_outgoing(store, now, &count), STORE_BUSY);
    does(store_report_outgoing(store, now + 1200000, write_event, &count));
    does(store_hold_outgoing(store, now, write_event, &count));
}

static inline void verify_outgoing(int rounds) {
    holds(rounds, "SELECT count(*) FROM outgoing WHERE user_id = '%s' AND retry_of IS NULL",
          user_id);
    holds(0, "SELECT count(retry_of) - count(DISTINCT retry_of) FROM outgoing WHERE user_id = '%s'",
          user_id);
    holds(0, "SELECT count(*) FROM outgoing WHERE user_id = '%s' AND attempts > 1", user_id);
}

/* --- campaigns: each recipient is queued once --- */

static inline void add_recipients(const struct store_campaign *campaign) {
    const struct store_campaign_recipient rows[] = {
        {"1", "US.1", SLICE("{\"a\":1}")},
        {"2", NULL, SLICE("{\"a\":1}")},
    };
    size_t added;
    may(store_add_recipients(store, campaign, rows, 2, now, &added), STORE_CONFLICT);
}

static inline void change_campaign(const char *id, enum campaign_deed deed) {
    may(store_change_campaign(store, user_id, id, deed, now, NULL, now, write_event),
        STORE_CONFLICT);
}

static inline void run_campaign(int twin, int round) {
    const struct store_campaign campaign = {.id = text("cmp_%s_%d", user_id, round),
                                            .user_id = user_id,
                                            .account_id = account_id,
                                            .line_id = line_id,
                                            .name = "x",
                                            .template_name = "x",
                                            .language = "en",
                                            .components = SLICE("[]"),
                                            .valid_ms = 1000000,
                                            .created_at = now};
    char after[ID_SIZE] = "";
    size_t count;
    does(store_insert_campaign(store, &campaign));
    add_recipients(&campaign);
    change_campaign(campaign.id, CAMPAIGN_START);
    if (twin % 2) {
        change_campaign(campaign.id, CAMPAIGN_PAUSE);
        change_campaign(campaign.id, CAMPAIGN_RESUME);
    }
    may(store_feed_campaign(store, &scratch, after, now + 1, write_event, &count), STORE_NOT_FOUND);
    if (twin == 3)
        change_campaign(campaign.id, CAMPAIGN_CANCEL);
    may(store_delete_old_campaigns(store, now, &count), STORE_BUSY);
}

static inline void verify_campaigns(int rounds) {
    holds(rounds, "SELECT count(*) FROM campaign WHERE user_id = '%s'", user_id);
    holds(0,
          "SELECT count(*) - count(DISTINCT campaign_id || recipient) FROM outgoing "
          "WHERE user_id = '%s' AND campaign_id IS NOT NULL",
          user_id);
    holds(0,
          "SELECT count(*) FROM outgoing o JOIN campaign_recipient r "
          "ON r.campaign_id = o.campaign_id AND r.recipient = o.recipient WHERE o.user_id = '%s'",
          user_id);
}

/* --- opt-outs: each identity once, and none after the last deletion --- */

static inline void opt_out(int twin, int round) {
    const struct opt_out_names names = {text("1%d", round), twin % 2 ? "US.1" : NULL};
    does(store_insert_opt_out(store, user_id, account_id, &names, now));
    does(store_delete_opt_out(store, user_id, account_id, &names));
}

static inline void verify_opt_outs(int rounds) {
    (void)rounds;
    holds(0, "SELECT count(*) FROM opt_out WHERE account_id = '%s'", account_id);
}

/* --- copies of attachments: each ends once --- */

static inline bool place_copy(void *context) {
    (void)context;
    return true;
}

static inline bool remove_copy(void *context, bool is_shared) {
    (void)is_shared;
    return place_copy(context);
}

static inline void copy_row(const char *owner, struct store_media_copy row, bool succeeds) {
    struct media_copy_step step = {.owner = owner, .row = &row, .now = now};
    char month[MEDIA_MONTH_SIZE];
    if (row.is_removed) {
        does(store_remove_media_copy(store, &step, remove_copy, NULL));
        return;
    }
    may(store_find_same_media(store, &row, month), STORE_NOT_FOUND);
    does(store_begin_media_copy(store, &step));
    row.sha256 = row.sha256 ? row.sha256 : "00";
    row.size = 1;
    does(store_name_media_copy(store, &step));
    if (succeeds)
        does(store_place_media_copy(store, &step, place_copy, NULL));
    else
        does(store_delay_media_copy(store, &step, "gone", 0));
}

static inline bool keep_file(void *context) {
    (void)context;
    fault("a file that a row names was removed");
    return false;
}

/* The check of the archive, of rows that are copied meanwhile. */
static inline void check_media(void) {
    struct store_media_copy *rows;
    size_t count;
    bool is_removed;
    if (!does(store_list_kept_media(store, &scratch, "", 4, &rows, &count)))
        return;
    for (size_t i = 0; i < count; i++) {
        does(store_drop_media_file(store, &rows[i], keep_file, NULL, &is_removed));
        does(store_repeat_media_copy(store, rows[i].message_id, now));
    }
}

static inline void copy_media(int twin, int round) {
    const char *owner = text("snd_%d", twin);
    struct store_update update = message_of(text("wamid.copy.%d", round), "15550001", NULL);
    struct store_media_copy *rows;
    size_t count;
    bool is_held;
    update.message.media_id = "7";
    ingest(update);
    if (does(store_hold_sender_lease(store, owner, now, &is_held)) && is_held &&
        does(store_list_media_copies(store, &scratch, now, 2, &rows, &count)))
        for (size_t i = 0; i < count; i++)
            copy_row(owner, rows[i], twin % 2);
    does(store_end_sender_lease(store, owner, now));
    if (!twin)
        check_media();
}

static inline void verify_copies(int rounds) {
    holds(rounds, "SELECT count(*) FROM media_copy WHERE user_id = '%s'", user_id);
    holds(0,
          "SELECT count(*) FROM media_copy WHERE user_id = '%s' AND state = 'queued' "
          "AND next_attempt_at IS NULL",
          user_id);
}

/* --- notes: one is deleted once, while others are added --- */

static inline const char *note_of(int round, int twin) {
    return text("not_%s.%d.%d", user_id, round / 3, twin);
}

static inline void add_note(int round, int twin) {
    const struct store_note note = {
        .id = note_of(round, twin), .thread_id = read_thread, .text = "x", .created_at = now};
    does(store_insert_note(store, WHOLE_VIEW(user_id), &note));
}

static inline void write_notes(int twin, int round) {
    if (is_phase(round, 0, 3) && twin == 0)
        add_note(round, 0);
    else if (is_phase(round, 1, 3) && twin > 3)
        add_note(round, twin);
    else if (is_phase(round, 1, 3) &&
             may(store_delete_note(store, WHOLE_VIEW(user_id), note_of(round, 0), NULL),
                 STORE_NOT_FOUND))
        atomic_fetch_add(&board->cells[round], 1);
    else if (is_phase(round, 2, 3) && twin == 0 && board->cells[round - 1] != 1)
        fault("a note was deleted %d times", board->cells[round - 1]);
}

static inline void verify_notes(int rounds) {
    holds((rounds + 1) / 3 * (TWINS - 4) + (rounds % 3 == 1),
          "SELECT count(*) FROM note WHERE thread_id = '%s'", read_thread);
    holds(1, "SELECT count(*) FROM thread WHERE id = '%s' AND changed = notes_changed",
          read_thread);
}

/* --- answers of members at the same time --- */

static inline bool claims(int twin, int round) {
    const char *id = text("mbr_%d", twin);
    const struct store_claim claim = {.thread_id = read_thread,
                                      .to = {.view = WHOLE_VIEW(user_id),
                                             .account_id = account_id,
                                             .line_id = line_id,
                                             .phone = "15550001"},
                                      .by = {id, id},
                                      .request_id = id,
                                      .seen = board->cells[round - 1],
                                      .now = now,
                                      .until = now + 1};
    struct store_claimant other;
    if (!does(store_claim_thread(store, &scratch, &claim, &other)) || other.by.id)
        return false;
    if (twin % 4)
        return true;
    does(store_release_claim(store, &claim)); /* the platform has refused it */
    return false;
}

/* All answer what they have seen: one passes. */
static inline void answer_at_once(int twin, int round) {
    if (is_phase(round, 0, 3) && twin == 0) {
        board->cells[round] =
            (int)ask(text("SELECT change_sequence FROM \"user\" WHERE id = '%s'", user_id));
    } else if (is_phase(round, 1, 3) && claims(twin, round)) {
        atomic_fetch_add(&board->cells[round], 1);
        send_by(text("mbr_%d", twin), "15550001", NULL, text("wamid.a%d.%d", round, twin));
    } else if (is_phase(round, 2, 3) && twin == 0 && board->cells[round - 1] > 1) {
        fault("%d members have answered", board->cells[round - 1]);
    }
}

/* --- payloads about two users, in both orders --- */

static struct line_of { char waba[32], line_name[32]; } two_lines[2];

static inline void make_two_users(void) {
    snprintf(two_lines[0].waba, sizeof waba, "%s", waba);
    snprintf(two_lines[0].line_name, sizeof line_name, "%s", line_name);
    make_user();
    snprintf(two_lines[1].waba, sizeof waba, "%s", waba);
    snprintf(two_lines[1].line_name, sizeof line_name, "%s", line_name);
}

static inline void receive_for_two(int twin, int round) {
    struct store_update updates[2];
    for (int i = 0; i < 2; i++) {
        const struct line_of *line = &two_lines[(i + twin) % 2];
        updates[i] = message_of(text("wamid.%d.%d", round, twin), text("1%d", twin), NULL);
        updates[i].waba_id = line->waba;
        updates[i].phone_number_id = line->line_name;
    }
    ingest_all(updates, 2);
}

static inline void verify_two(int rounds) {
    holds(rounds * TWINS, OF_LINE("message"));
    holds(TWINS, OF_ACCOUNT("contact"));
}

/* --- a POST that is forwarded --- */

static inline void make_recipe(void *context, struct arena *to,
                               const struct forward_selection *selection,
                               struct forward_recipe **recipes, size_t *count) {
    (void)context, (void)selection;
    *recipes = arena_alloc(to, sizeof **recipes);
    **recipes = (struct forward_recipe){0};
    *count = 1;
}

static inline void insert_forward(const char *id) {
    const struct store_webhook_change forward = {.id = id,
                                                 .user_id = user_id,
                                                 .kind = WEBHOOK_FORWARD,
                                                 .url = "http://127.0.0.1:9/forward",
                                                 .fields = "*",
                                                 .code = &any_code,
                                                 .now = now};
    does(store_insert_webhook(store, &forward));
}

static inline void make_forward(void) {
    insert_forward(fresh_id("whk_"));
}

static inline void forward_again(int twin, int round) {
    const struct forward_place place = {waba, line_name};
    const char *body = text("a POST to %s in round %d", user_id, round);
    const struct store_post post = {
        .body = slice_of(body), .places = &place, .place_count = 1, .make = make_recipe};
    struct store_payload payload = {.now = case_time, .write = write_event, .post = &post};
    (void)twin;
    does(store_ingest(store, &scratch, &payload));
}

static inline void verify_forwards(int rounds) {
    holds(rounds, OF_USER("event"));
    holds(rounds, OF_USER("delivery"));
    holds(rounds, "SELECT forward_sequence FROM \"user\" WHERE id = '%s'", user_id);
}

/* --- lists of the platform, in both orders --- */

static inline void upsert_lists(int twin, int round) {
    enum { ROWS = 6 };
    struct store_flow flows[ROWS];
    struct store_template_flow rows[ROWS];
    for (int i = 0; i < ROWS; i++) {
        const char *id = text("f%d", twin % 2 ? i : ROWS - 1 - i);
        flows[i] = (struct store_flow){.flow_id = id,
                                       .name = text("flow %d %d", twin, round),
                                       .status = "DRAFT",
                                       .validation = SLICE("[]")};
        rows[i] = (struct store_template_flow){text("t-%s", id), "en", text("f%d", twin)};
    }
    does(store_upsert_flows(store, &scratch, account_id, flows, ROWS, now));
    does(store_upsert_template_flows(store, account_id, rows, ROWS, now));
    flows[0].flow_id = "gone";
    does(store_upsert_flows(store, &scratch, account_id, flows, 1, now));
    does(store_delete_flow(store, account_id, "gone"));
}

static inline void verify_lists(int rounds) {
    (void)rounds;
    holds(6, OF_ACCOUNT("flow"));
    holds(6, OF_ACCOUNT("template"));
}

#endif
