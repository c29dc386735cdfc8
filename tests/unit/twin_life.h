/* Retention and erasure, while messages and statuses arrive (twin.h). */
#ifndef SWITCHBOARD_TEST_TWIN_LIFE_H
#define SWITCHBOARD_TEST_TWIN_LIFE_H

#include "store/erasure.h"
#include "store/retention.h"
#include "twin_messages.h"

#define LONG_AGO (100 * 24 * 60 * 60 * INT64_C(1000))

static inline void receive_at(const char *wamid, const char *phone, int64_t at) {
    struct store_update update = message_of(wamid, phone, NULL);
    update.message.timestamp = at;
    ingest(update);
}

static inline void make_old_threads(void) {
    for (int i = 0; i < TWINS; i++)
        receive_at(text("wamid.old.first.%d", i), text("1%d", i), now - LONG_AGO);
}

static inline void set_and_prune(void) {
    const struct store_retention days = {.user_id = user_id, .message_days = 8};
    size_t removed;
    does(store_set_retention(store, &days, now));
    for (int i = 0; i < 4; i++)
        may(store_prune(store, now, &removed), STORE_BUSY);
}

/* The contact that has existed for the longest time, or "" when there is none. */
static inline const char *oldest_contact(void) {
    return ask_text(
        text("SELECT coalesce(min(id), '') FROM contact WHERE account_id = '%s'", account_id));
}

static inline void hold_oldest(bool is_held) {
    struct store_hold hold = {.contact_id = oldest_contact(), .is_held = is_held, .now = now};
    may(store_hold_contact(store, &hold), STORE_NOT_FOUND);
}

/* Twin 0 and 1 delete what the others receive. A report may be of a message that is gone. */
static inline void prune_old(int twin, int round) {
    if (twin < 2)
        set_and_prune();
    else if (twin < 4)
        receive_at(text("wamid.new.%d.%d", round, twin), text("1%d", round % TWINS), now);
    else if (twin < 6)
        receive_at(text("wamid.old.%d", round), text("1%d", round % TWINS), now - LONG_AGO);
    else
        ingest(status_of(text("wamid.old.%d", round), twin == 6 ? "read" : "delivered",
                         text("1%d", round % TWINS), NULL));
    if (twin == 7)
        hold_oldest(round % 2);
}

static inline void verify_pruned(int rounds) {
    size_t removed = 1;
    change(arena_printf(&arena, "UPDATE contact SET held_at = NULL WHERE account_id = '%s'",
                        account_id));
    does(store_set_retention(
        store, &(struct store_retention){.user_id = user_id, .message_days = 8}, now));
    while (removed)
        does(store_prune(store, now, &removed));
    holds(rounds * 2, "SELECT count(*) FROM message WHERE line_id = '%s' AND wamid LIKE '%%new%%'",
          line_id);
    holds(0,
          "SELECT count(*) FROM message WHERE line_id = '%s' AND timestamp < (SELECT walk_at "
          "FROM retention WHERE user_id = '%s') - 9 * CAST(86400000 AS BIGINT)",
          line_id, user_id);
    holds(0,
          "SELECT count(*) FROM thread t WHERE t.line_id = '%s' AND t.unread > (SELECT count(*) "
          "FROM message m WHERE m.thread_id = t.id AND m.direction = 'in')",
          line_id);
    holds(0,
          "SELECT count(*) FROM thread t WHERE t.line_id = '%s' AND NOT EXISTS (SELECT 1 "
          "FROM message m WHERE m.thread_id = t.id)",
          line_id);
}

/* --- erasure --- */

static inline void make_persons(void) {
    rename_pruned(); /* events of who is erased are deleted */
    for (int i = 0; i < TWINS; i++)
        receive_at(text("wamid.first.%d", i), text("2%d", i), now);
}

/* Twins 0 and 1 erase those from whom the others receive. */
static inline void erase_persons(int twin, int round) {
    struct store_erasure erasure;
    size_t done;
    if (twin < 2)
        may(store_erase_contact(store, &arena, NULL, oldest_contact(), now, &erasure),
            STORE_NOT_FOUND);
    if (twin < 2)
        for (int i = 0; i < 4; i++)
            may(store_erase_part(store, event_body, now, &done), STORE_BUSY);
    else if (twin < 6)
        receive_at(text("wamid.during.%d.%d", round, twin), text("2%d", round % TWINS), now);
    else
        ingest(status_of(text("wamid.first.%d", round % TWINS), twin == 6 ? "read" : "delivered",
                         text("2%d", round % TWINS), NULL));
}

static inline void verify_erased(int rounds) {
    size_t done = 1;
    (void)rounds;
    while (done)
        does(store_erase_part(store, event_body, now, &done));
    holds(0,
          "SELECT count(*) FROM erasure WHERE account_id = '%s' AND (ended_at IS NULL OR names IS "
          "NOT NULL)",
          account_id);
    holds(0,
          "SELECT count(*) FROM erasure e WHERE e.account_id = '%s' AND EXISTS (SELECT 1 FROM "
          "thread t WHERE t.contact_id = e.contact_id)",
          account_id);
    holds(0,
          "SELECT count(*) FROM erasure e JOIN contact c ON c.id = e.contact_id "
          "WHERE e.account_id = '%s'",
          account_id);
    holds(0,
          "SELECT count(*) FROM message m WHERE m.line_id = '%s' AND m.wamid LIKE '%%during%%' AND "
          "m.source = 'status'",
          line_id);
}

/* --- two contacts of one change of identity --- */

static inline void make_changed_pairs(void) {
    rename_pruned();
    make_pairs();
    for (int i = 0; i < PAIRS; i++)
        change(arena_printf(&arena,
                            "INSERT INTO identity_change (account_id, at, old_phone, old_bsuid, "
                            "new_phone, new_bsuid) VALUES ('%s', 1, '1%d', '', '2%d', '')",
                            account_id, i, i));
}

/* Four pairs in a round: each twin erases one contact of a pair, and another twin the other one. */
static inline void erase_pairs(int twin, int round) {
    const int pair = round * TWINS / 2 + twin / 2;
    struct store_erasure erasure;
    if (pair < PAIRS)
        does(store_erase_contact(
            store, &arena, NULL,
            ask_text(text("SELECT id FROM contact WHERE account_id = '%s' AND phone = '%d%d'",
                          account_id, 1 + twin % 2, pair)),
            now, &erasure));
}

/* The second erasure of a pair deletes the change. */
static inline void verify_no_change(int rounds) {
    const int pairs = rounds * TWINS / 2 < PAIRS ? rounds * TWINS / 2 : PAIRS;
    holds(PAIRS - pairs, "SELECT count(*) FROM identity_change WHERE account_id = '%s'",
          account_id);
}

#endif
