/* Twins that deliver, replay and delete events, and that change webhooks (twin.h). */
#ifndef SWITCHBOARD_TEST_TWIN_OUTBOX_H
#define SWITCHBOARD_TEST_TWIN_OUTBOX_H

#include "store/event_replay.h"
#include "store/event_test.h"
#include "store/housekeeping.h"
#include "store/outbox.h"
#include "store/user_webhook.h"
#include "twin_messages.h"

static char second_webhook[ID_SIZE];

static inline void insert_webhook(const char *id) {
    may(store_insert_webhook(store, &(struct store_webhook_change){.id = id,
                                                                   .user_id = user_id,
                                                                   .kind = WEBHOOK_EVENT,
                                                                   .url = "http://127.0.0.1:9/2",
                                                                   .code = &any_code,
                                                                   .now = now}),
        STORE_CONFLICT);
}

static inline void make_second_webhook(void) {
    snprintf(second_webhook, ID_SIZE, "%s", fresh_id("whk_"));
    insert_webhook(second_webhook);
}

/* --- couriers ---
 *
 * A twin ends the attempts of the events that it leased in the round before, and leases others. */

enum { PEOPLE = 12, MESSAGES_EACH = 8, LEASED_AT_ONCE = 4 };

static struct lease {
    struct store_attempt attempt;
    char event_id[ID_SIZE], webhook_id[ID_SIZE];
    int cell, sequence;
} leased[LEASED_AT_ONCE];
static size_t leased_count;

/* Inserts messages of many people, each with several; `each` messages. */
static inline void make_events(int people, int each) {
    for (int n = 0; n < each; n++) {
        struct store_update *updates = arena_alloc(&arena, (size_t)people * sizeof *updates);
        for (int i = 0; i < people; i++)
            updates[i] = message_of(text("wamid.first.%d.%d", n, i), text("3%d", i), NULL);
        ingest_all(updates, (size_t)people);
    }
}

static inline void make_queue(void) {
    make_second_webhook();
    make_events(PEOPLE, MESSAGES_EACH);
}

/* A first attempt of a contact's event is not in progress while another one is, and the events of a
 * contact are leased in their order. Two cells for each webhook and contact: whether one is in
 * progress, and the last sequence. */
static inline void check_order(struct lease *lease, const struct store_delivery *delivery) {
    int sequence = 0, person = 0; /* as write_event wrote them */
    if (delivery->attempts != 1 || sscanf(delivery->body.p, "%d 3%d", &sequence, &person) != 2)
        return;
    lease->cell = 1 + 4 * person + 2 * (strcmp(delivery->webhook_id, second_webhook) == 0);
    lease->sequence = sequence;
    if (atomic_exchange(&board->cells[lease->cell], 1))
        fault("two first attempts of one contact at the same time");
    if (atomic_exchange(&board->cells[lease->cell + 1], sequence) > sequence)
        fault("a later event of a contact was leased before event %d", sequence);
}

static inline void take_lease(const struct store_delivery *delivery, enum store_verdict verdict) {
    struct lease *lease = &leased[leased_count++];
    *lease = (struct lease){.cell = -1};
    snprintf(lease->event_id, ID_SIZE, "%s", delivery->event_id);
    snprintf(lease->webhook_id, ID_SIZE, "%s", delivery->webhook_id);
    lease->attempt = (struct store_attempt){.event_id = lease->event_id,
                                            .webhook_id = lease->webhook_id,
                                            .user_id = user_id,
                                            .is_probe = delivery->is_probe,
                                            .verdict = verdict,
                                            .started_at = now + 1,
                                            .next_attempt_at = case_time + 4000,
                                            .status = verdict == VERDICT_DELIVERED ? 200 : 500,
                                            .error = verdict == VERDICT_DELIVERED ? NULL : "500"};
}

enum { FIRST = 1, SECOND = 2 }; /* webhooks */

/* Leases at most `limit` events of each of the webhooks, after the attempts in progress have ended.
 */
static inline void work(int twin, int webhooks, size_t limit, enum store_verdict verdict,
                        bool checks_order) {
    const struct store_share shares[] = {{webhook_id, user_id, limit},
                                         {second_webhook, user_id, limit}};
    struct store_attempt ended[LEASED_AT_ONCE];
    struct store_delivery *deliveries;
    size_t count;
    for (size_t i = 0; i < leased_count; i++) {
        ended[i] = leased[i].attempt;
        if (leased[i].cell > 0)
            atomic_store(&board->cells[leased[i].cell], 0);
    }
    const struct store_exchange exchange = {.courier = text("cou_%d", twin),
                                            .now = case_time + 5000,
                                            .attempts = ended,
                                            .attempt_count = leased_count,
                                            .shares = webhooks == SECOND ? shares + 1 : shares,
                                            .share_count = webhooks == (FIRST | SECOND) ? 2 : 1};
    leased_count = 0;
    if (!does(store_exchange_events(store, &scratch, &exchange, &deliveries, &count)))
        return;
    for (size_t i = 0; i < count; i++) {
        take_lease(&deliveries[i], verdict);
        if (checks_order)
            check_order(&leased[leased_count - 1], &deliveries[i]);
    }
}

/* Returns what is leased to the queue. */
static inline void give_back(int twin) {
    for (size_t i = 0; i < leased_count; i++) {
        if (leased[i].cell > 0) {
            atomic_store(&board->cells[leased[i].cell + 1], leased[i].sequence - 1);
            atomic_store(&board->cells[leased[i].cell], 0);
        }
        does(store_release_event(store, text("cou_%d", twin), leased[i].event_id,
                                 leased[i].webhook_id));
    }
    leased_count = 0;
}

static inline void deliver(int twin, int round) {
    if (twin == 7 && round % 2)
        give_back(twin);
    work(twin, FIRST | SECOND, 1, VERDICT_DELIVERED, true);
}

static inline void verify_deliveries(int rounds) {
    (void)rounds;
    holds(0,
          "SELECT count(*) FROM delivery WHERE user_id = '%s' AND state = 'done' "
          "AND attempts <> 1",
          user_id);
    holds(0,
          "SELECT count(*) FROM delivery d WHERE user_id = '%s' AND (state = 'done') <> EXISTS "
          "(SELECT 1 FROM event_attempt a WHERE a.event_id = d.event_id "
          "AND a.webhook_id = d.webhook_id AND a.attempt = 1)",
          user_id);
    holds(0, "SELECT count(*) FROM event_attempt WHERE attempt > 1 AND user_id = '%s'", user_id);
}

/* --- webhooks that are unset and deleted while events are inserted --- */

static inline void ask_for_none(const char *what) {
    const int64_t pending = ask(text("SELECT count(*) FROM delivery d JOIN webhook w "
                                     "ON w.id = d.webhook_id WHERE d.user_id = '%s' "
                                     "AND d.state = 'pending' AND %s",
                                     user_id, what));
    if (pending)
        fault("%lld deliveries are pending for a webhook with %s", (long long)pending, what);
}

static inline void remove_webhooks(int twin, int round) {
    const char *id = text("%s.%d", user_id, round / 3), *forward = text("%s.forward", id);
    if (is_phase(round, 0, 3) && twin == 0)
        insert_webhook(id);
    else if (is_phase(round, 0, 3) && twin == 1)
        does(store_upsert_webhook_config(store, user_id, "http://127.0.0.1:9/", &any_code, now));
    else if (is_phase(round, 0, 3) && twin == 2)
        insert_forward(forward);
    else if (is_phase(round, 1, 3) && twin == 0)
        does(store_delete_webhook(store, user_id, id, now + round));
    else if (is_phase(round, 1, 3) && twin == 3)
        does(store_delete_webhook(store, user_id, forward, now + round));
    else if (is_phase(round, 1, 3) && twin > 5)
        forward_again(twin, round);
    else if (is_phase(round, 1, 3) && twin == 1)
        does(store_delete_webhook_config(store, user_id, now + round));
    else if (is_phase(round, 1, 3) && twin == 2)
        may(store_insert_test_event(store, &scratch, user_id, NULL, new_id("evt_"), now,
                                    write_event),
            STORE_CONFLICT);
    else if (is_phase(round, 1, 3))
        ingest(message_of(text("wamid.%d.%d", round, twin), text("1%d", twin), NULL));
    else if (twin == 0)
        ask_for_none("(w.url = '' OR w.deleted_at IS NOT NULL)");
}

/* --- replays, while couriers end attempts --- */

/* An event is pending as long as one of its deliveries is. A later replay would hide that it is
 * not.
 */
static inline void ask_for_states(void) {
    const int64_t wrong = ask(text("SELECT count(*) FROM event e WHERE user_id = '%s' "
                                   "AND (state = 'pending') <> EXISTS (SELECT 1 FROM delivery d "
                                   "WHERE d.event_id = e.id AND d.state = 'pending')",
                                   user_id));
    if (wrong)
        fault("%lld events have a state that their deliveries do not have", (long long)wrong);
}

static char some_event[ID_SIZE];

static inline void make_dead_events(void) {
    make_second_webhook();
    make_events(4, 1); /* each is in the hands of a courier most of the time */
    snprintf(some_event, ID_SIZE, "%s",
             ask_text(text("SELECT min(id) FROM event WHERE user_id = '%s'", user_id)));
}

static inline void replay(int twin, int round) {
    size_t count;
    bool more;
    if (is_phase(round, 3, 4) && twin == 0)
        ask_for_states();
    else if (is_phase(round, 3, 4))
        return;
    else if (twin < 4)
        work(twin, twin < 2 ? FIRST : SECOND, LEASED_AT_ONCE, VERDICT_DEAD, false);
    else if (twin == 4)
        does(store_replay_event(store, user_id, some_event, case_time + 1));
    else if (twin < 7)
        does(store_replay_failed_events(store, user_id, 0, true, case_time + 1, &count, &more));
    else
        does(store_replay_events(store, case_time - 1000, case_time + 1000, case_time + 1, &count));
}

/* --- replays of events of contacts that are merged --- */

static inline void make_dead_pairs(void) {
    make_pairs();
    change(arena_printf(&arena,
                        "UPDATE delivery SET state = 'dead', finished_at = %lld "
                        "WHERE user_id = '%s'",
                        (long long)case_time, user_id));
    change(arena_printf(&arena,
                        "UPDATE event SET state = 'dead', finished_at = %lld "
                        "WHERE user_id = '%s'",
                        (long long)case_time, user_id));
}

static inline void replay_merged(int twin, int round) {
    if (round >= PAIRS)
        return;
    if (twin == 0)
        ingest(change_of(text("US.1.%d", round), text("US.2.%d", round)));
    else if (twin < 3) /* the first event of the contact */
        may(store_replay_event(store, NULL,
                               ask_text(text("SELECT id FROM event WHERE user_id = '%s' "
                                             "AND is_forward = 0 AND sequence = %d",
                                             user_id, 4 * round + 2 * twin - 1)),
                               case_time + 1),
            STORE_CONFLICT);
}

/* --- suspended webhooks --- */

/* As `switchboard event resume` does. */
static inline void resume_all(void) {
    struct store_suspended *webhooks;
    size_t count;
    does(store_list_suspended(store, &scratch, &webhooks, &count));
    for (size_t i = 0; i < count; i++) {
        const struct store_webhook_change change = {.id = webhooks[i].id,
                                                    .user_id = webhooks[i].user_id,
                                                    .ends_suspension = true,
                                                    .now = case_time + 1};
        does(store_change_webhook(store, &change));
    }
}

static inline void resume(int twin, int round) {
    const struct store_webhook_change changed = {.id = round % 2 ? webhook_id : second_webhook,
                                                 .user_id = user_id,
                                                 .pauses = round % 4 == 0,
                                                 .resumes = round % 4 != 0,
                                                 .now = now + 1};
    size_t count;
    bool more;
    if (twin < 4)
        work(twin, FIRST | SECOND, 2, twin ? VERDICT_RETRY : VERDICT_GONE, false);
    else if (twin < 6)
        resume_all();
    else if (twin == 6)
        does(store_change_webhook(store, &changed));
    else
        does(store_replay_failed_events(store, user_id, 0, true, case_time + 1, &count, &more));
}

static inline void verify_resumed(int rounds) {
    (void)rounds;
    holds(2, OF_USER("webhook"));
}

/* --- old events that are deleted while they are replayed --- */

static inline void rename_pruned(void) {
    change(arena_printf(&arena, "UPDATE \"user\" SET email = 'pruned ' || id WHERE id = '%s'",
                        user_id));
}

static inline void make_old(void) {
    const int64_t old = now - 10 * 24 * 60 * 60 * INT64_C(1000);
    change(text("UPDATE delivery SET state = 'done', attempts = 1, finished_at = %lld "
                "WHERE user_id = '%s'",
                (long long)old, user_id));
    change(text("UPDATE event SET state = 'done', finished_at = %lld WHERE user_id = '%s'",
                (long long)old, user_id));
}

static inline void prune(int twin, int round) {
    size_t count;
    if (is_phase(round, 0, 3))
        ingest(message_of(text("wamid.%d.%d", round, twin), text("1%d", twin), NULL));
    else if (is_phase(round, 1, 3) && twin == 0)
        make_old();
    else if (is_phase(round, 2, 3) && twin < 3)
        may(store_delete_old_rows(store, case_time, &count), STORE_BUSY);
    else if (is_phase(round, 2, 3) && twin == 3)
        may(store_repair_times(store, &scratch, case_time, &count), STORE_BUSY);
    else if (is_phase(round, 2, 3))
        does(store_replay_events(store, case_time - 1000, case_time + 1000, case_time + twin,
                                 &count));
}

/* --- the first webhook of a user, the limit of webhooks, and the verification of a URL --- */

enum { USERS = 60 }; /* one for each round */

static inline const char *user_of(int round) {
    return text("%s.%d", user_id, round % USERS);
}

static inline const char *email_of(int round) {
    return text("%d.%s", round % USERS, email);
}

static inline void make_users(void) {
    for (int i = 0; i < USERS; i++)
        insert_user(user_of(i), email_of(i));
}

static inline void set_first(int twin, int round) {
    const struct store_webhook_change enabled = {
        .user_id = user_of(round), .switched_type = "message.status", .now = now};
    if (twin % 4 == 0)
        does(store_upsert_webhook_config(store, user_of(round), "http://127.0.0.1:9/", NULL, now));
    else if (twin % 4 == 1)
        does(store_upsert_webhook_config(store, user_of(round), NULL, &any_code, now));
    else if (twin % 4 == 2)
        does(store_change_webhook(store, &enabled));
    else
        does(store_upsert_webhook_config(store, user_of(round), "http://127.0.0.1:8/", &any_code,
                                         now));
}

static inline void verify_first(int rounds) {
    holds(rounds < USERS ? rounds : USERS,
          "SELECT count(*) FROM webhook WHERE user_id LIKE '%s.%%'", user_id);
    holds(rounds < USERS ? rounds : USERS,
          "SELECT count(*) FROM webhook WHERE user_id LIKE '%s.%%' AND code IS NOT NULL "
          "AND url <> '' AND event_types LIKE '%%message.status'",
          user_id);
}

/* Fills the user's webhooks up to one below the limit. */
static inline void make_full(void) {
    change(arena_printf(&arena,
                        "INSERT INTO webhook (id, user_id, kind, created_at, updated_at) "
                        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n "
                        "WHERE i < %d) SELECT 'whk_%s.' || i, '%s', 'event', 1, 1 FROM n",
                        STORE_WEBHOOKS_KEPT - 1, user_id, user_id));
}

/* One insertion and one verification at a time succeeds. */
static inline void insert_last(int twin, int round) {
    const char *id = text("whk_last.%s.%d.%d", user_id, twin, round / 2);
    if (is_phase(round, 0, 2)) {
        const struct store_webhook_change last = {
            .id = id, .user_id = user_id, .kind = WEBHOOK_EVENT, .now = now};
        if (may(store_insert_webhook(store, &last), STORE_CONFLICT) &&
            atomic_fetch_add(&board->cells[0], 1))
            fault("there are more webhooks than the limit");
        if (may(store_begin_verification(store, user_id, now), STORE_CONFLICT) &&
            atomic_fetch_add(&board->cells[1], 1))
            fault("two verifications are in progress");
        return;
    }
    may(store_delete_webhook(store, user_id, id, now), STORE_NOT_FOUND);
    does(store_end_verification(store, user_id));
    board->cells[0] = board->cells[1] = 0;
}

/* Twins make and delete a webhook of the account while others set the account's fields. */
static inline void set_fields(int twin, int round) {
    const char *id = text("whk_field.%s.%d.%d", user_id, twin, round / 2);
    const struct store_webhook_change callback = {.id = id,
                                                  .user_id = user_id,
                                                  .kind = WEBHOOK_FORWARD,
                                                  .account_id = account_id,
                                                  .now = now};
    if (twin % 2)
        does(store_set_subscribed_fields(store, user_id, account_id,
                                         text("messages f%d_%d", twin, round), now));
    else if (is_phase(round, 0, 2))
        does(store_insert_webhook(store, &callback));
    else
        does(store_delete_webhook(store, user_id, id, now));
}

static inline void verify_fields(int rounds) {
    (void)rounds;
    holds(0,
          "SELECT count(*) FROM webhook w JOIN account a ON a.id = w.account_id "
          "WHERE w.user_id = '%s' AND w.deleted_at IS NULL "
          "AND coalesce(w.fields, '') <> coalesce(a.subscribed_fields, '')",
          user_id);
}

#endif
