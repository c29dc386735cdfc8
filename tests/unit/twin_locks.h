/* Calls that wait for a contact which is changed meanwhile: each has the lock of the contact that
 * it then finds. Three twins take the parts (twin.h). */
#ifndef SWITCHBOARD_TEST_TWIN_LOCKS_H
#define SWITCHBOARD_TEST_TWIN_LOCKS_H

#include "store/ingest/identity.h"
#include "twin_messages.h"

static char other_ids[PAIRS][ID_SIZE]; /* of the contacts with the phones 2... */

/* Has the changer's part so far that it holds both contacts, and ended the caller's call. */
enum { IS_LOCKED, IS_CALLED, STEPS };

/* --- the changes; the transaction is open and has the locks of both contacts --- */

static inline bool merge_pair(int pair) {
    const struct occasion occasion = {.store = store,
                                      .arena = &scratch,
                                      .account_id = account_id,
                                      .at = now,
                                      .now = case_time,
                                      .new_id = new_id("con_")};
    const struct contact before = {.bsuid = text("US.1.%d", pair)},
                         after = {.bsuid = text("US.2.%d", pair)};
    return identity_change(&occasion, &before, &after, "user_id_update");
}

/* As a split does. */
static inline bool move_messages(int pair) {
    static struct statement s = {
        .sql = "UPDATE message SET thread_id = (SELECT id FROM thread WHERE contact_id = ?2) "
               "WHERE thread_id = (SELECT id FROM thread WHERE contact_id = ?1)"};
    return sql_run(store, &s, TEXT(other_ids[pair]), TEXT(pair_ids[pair]));
}

/* --- the calls; they find the contact with the phone 2... before the change --- */

static inline void receive_by_phone(int pair) {
    ingest(message_of(text("wamid.in.%d", pair), text("2%d", pair), NULL));
}

static inline void receive_usual(int pair) {
    ingest(message_of(text("wamid.in.%d", pair), text("2%d", pair), text("US.2.%d", pair)));
}

static inline void report_status(int pair) {
    ingest(status_of(text("wamid.out.%d", pair), "read", text("2%d", pair), NULL));
}

static inline void report_lead_of_other(int pair) {
    struct store_update update = update_of(UPDATE_LEAD);
    update.key = text("lead-%d", pair);
    update.lead.wamid = text("wamid.first.%d", 2 * pair + 1);
    ingest(update);
}

static inline void send_to_other(int pair) {
    send_to(text("2%d", pair), NULL, text("wamid.sent.%d", pair));
}

static inline void block_other(int pair) {
    struct store_block block = {
        .phone_number_id = line_name, .phone = text("2%d", pair), .now = now};
    id_make(block.contact_id, "con_", now);
    does(store_block_contact(store, &block));
}

static inline void block_other_by_id(int pair) {
    struct store_owner_block block = {.view = WHOLE_VIEW(user_id),
                                      .contact_id = other_ids[pair],
                                      .phone_number_id = line_name,
                                      .now = now};
    does(store_block(store, &scratch, &block));
}

static inline void list_identities(int pair) {
    struct store_contact_split split = {.contact_id = other_ids[pair], .now = now};
    does(store_split_contact(store, &scratch, &split));
}

enum { CROSSED }; /* the pair of wait_crosswise */

static const struct waiting {
    bool (*change)(int pair);
    void (*call)(int pair);
} waitings[] = {
    [CROSSED] = {merge_pair, block_other_by_id},
    {merge_pair, receive_by_phone},
    {merge_pair, receive_usual},
    {merge_pair, report_status},
    {merge_pair, report_lead_of_other},
    {merge_pair, send_to_other},
    {merge_pair, block_other},
    {merge_pair, list_identities},
    {move_messages, report_status},
    {move_messages, report_lead_of_other},
};
enum {
    WAITINGS = sizeof waitings / sizeof *waitings,
    MARKED = WAITINGS, /* the pair after theirs */
    PARTS = 3
};

static inline void make_waiting_pairs(void) {
    make_pairs();
    for (int i = 0; i < PAIRS; i++) {
        struct store_update sent = message_of(text("wamid.out.%d", i), text("2%d", i), NULL);
        sent.kind = UPDATE_ECHO;
        sent.message.is_outgoing = true;
        ingest(sent);
        check_ok(store_find_person(store, account_id, text("2%d", i), NULL, other_ids[i]));
    }
    ingest(change_of(text("US.1.%d", MARKED), text("US.2.%d", MARKED)));
}

/* --- the parts --- */

static inline bool is_at(int pair, int step) {
    return board->cells[STEPS * pair + step];
}

static inline void reach(int pair, int step) {
    board->cells[STEPS * pair + step] = 1;
}

static inline void wait_for_step(int pair, int step) {
    while (!is_at(pair, step))
        usleep(1000);
}

/* Waits until so many transactions wait for a lock, or the caller's call has ended. */
static inline void wait_for_waits(int pair, int64_t count) {
    static struct statement s = {
        .sql = "SELECT count(*) FROM pg_locks w WHERE NOT w.granted AND EXISTS (SELECT 1 "
               "FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE l.pid = w.pid "
               "AND d.datname = current_database())"};
    for (int64_t waits = 0; waits < count && !is_at(pair, IS_CALLED) && !sql_failed(store);) {
        sql_start_with(store, &s, NULL, 0);
        waits = sql_row(store, &s) ? column_integer(&s, 0) : 0;
        sql_stop(&s);
        usleep(1000);
    }
    if (is_at(pair, IS_CALLED))
        fault("call %d did not wait", pair);
}

/* Changes the contacts when both other twins wait for their locks. */
static inline void change_pair(int pair) {
    const char *const ids[] = {pair_ids[pair], other_ids[pair]};
    while (sql_transact(store)) {
        sql_lock(store, LOCK_CONTACT, account_id, ids, 2);
        sql_wait_for_locks(store);
        reach(pair, IS_LOCKED);
        wait_for_waits(pair, 2);
        waitings[pair].change(pair);
    }
    does(sql_result(store));
}

/* Has the lock of the contact that remains after the change until the caller waits for it too. */
static inline void hold_remaining(int pair) {
    const char *const id = pair_ids[pair];
    wait_for_step(pair, IS_LOCKED);
    while (sql_transact(store)) {
        sql_lock(store, LOCK_CONTACT, account_id, &id, 1);
        sql_wait_for_locks(store);
        wait_for_waits(pair, 1);
    }
    does(sql_result(store));
}

static inline void call_for_pair(int pair) {
    wait_for_step(pair, IS_LOCKED);
    waitings[pair].call(pair);
    reach(pair, IS_CALLED);
}

/* --- a split, while a read mark of the thread is written --- */

static inline void hold_counters(int pair) {
    const char *const id = user_id;
    while (sql_transact(store)) {
        sql_lock(store, LOCK_COUNTERS, NULL, &id, 1);
        sql_wait_for_locks(store);
        reach(pair, IS_LOCKED);
        wait_for_waits(pair, 2);
    }
    does(sql_result(store));
}

static inline void mark_merged(int pair) {
    const char *thread =
        ask_text(text("SELECT t.id FROM thread t JOIN contact c ON c.id = t.contact_id WHERE "
                      "c.account_id = '%s' AND c.bsuid = 'US.2.%d'",
                      account_id, pair));
    int64_t unread;
    wait_for_step(pair, IS_LOCKED);
    does(store_mark_read(store, WHOLE_VIEW(user_id), thread, NULL, &unread));
}

/* The split has read the threads when it waits for the counters, after the read mark. */
static inline void split_marked(int pair) {
    struct store_contact_split split = {
        .contact_id = pair_ids[pair], .identity = text("US.2.%d", pair), .now = now};
    wait_for_step(pair, IS_LOCKED);
    wait_for_waits(pair, 1);
    does(store_split_contact(store, &scratch, &split));
}

/* --- a transaction that the server ends, because it waits for another one that waits for it --- */

/* The caller has the lock of the merged contact. The server ends the transaction that waited first,
 * the caller's; or this one, which does nothing when it is repeated. */
static inline void hold_crossing(int pair) {
    const char *const remaining = pair_ids[pair], *const merged = other_ids[pair];
    int runs = 0;
    wait_for_step(pair, IS_LOCKED);
    while (sql_transact(store)) {
        if (++runs > 1)
            continue;
        sql_lock(store, LOCK_CONTACT, account_id, &remaining, 1);
        sql_wait_for_locks(store);
        wait_for_waits(pair, 1);
        sql_lock(store, LOCK_CONTACT, account_id, &merged, 1);
        sql_wait_for_locks(store);
    }
    does(sql_result(store));
}

static inline void play(int twin, int pair, void (*const parts[PARTS])(int pair)) {
    if (twin < PARTS)
        parts[twin](pair);
    pthread_barrier_wait(&board->barrier);
}

/* The first round has all. A database with one writer at a time has no such locks. */
static inline void wait_for_others(int twin, int round) {
    static void (*const calls[PARTS])(int pair) = {change_pair, hold_remaining, call_for_pair};
    static void (*const marks[PARTS])(int pair) = {hold_counters, mark_merged, split_marked};
    if (round > 0 || *database == '/')
        return;
    for (int pair = 0; pair < WAITINGS; pair++)
        play(twin, pair, calls);
    play(twin, MARKED, marks);
}

static inline void verify_marked(int rounds) {
    (void)rounds;
    holds(*database == '/' ? 2 : 0,
          "SELECT max(abs(t.unread)) FROM thread t JOIN contact c ON c.id = t.contact_id "
          "WHERE t.line_id = '%s' AND c.bsuid IN ('US.1.%d', 'US.2.%d')",
          line_id, MARKED, MARKED);
}

/* The block by id, in the first round. */
static inline void wait_crosswise(int twin, int round) {
    static void (*const parts[PARTS])(int pair) = {change_pair, hold_crossing, call_for_pair};
    if (round == 0 && *database != '/')
        play(twin, CROSSED, parts);
}

#endif
