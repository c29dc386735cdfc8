/* Every call of the store that writes is made twice with the same arguments: the second call leaves
 * the content of the database as it is (lib/store/store.h). On a server the first call is also made
 * with faults of the server (server_faults.h), which change neither its result nor the content. */
#include <time.h>

#include "database_content.h"
#include "server_faults.h"
#include "store/assignment.h"
#include "store/block.h"
#include "store/canned_reply.h"
#include "store/claim.h"
#include "store/contact_split.h"
#include "store/done_mark.h"
#include "store/erasure.h"
#include "store/event_replay.h"
#include "store/event_test.h"
#include "store/flow.h"
#include "store/heartbeat.h"
#include "store/housekeeping.h"
#include "store/idempotency_key.h"
#include "store/invitation.h"
#include "store/line.h"
#include "store/note.h"
#include "store/outbox.h"
#include "store/read_mark.h"
#include "store/refusal.h"
#include "store/sealed.h"
#include "store/typing.h"
#include "store/user_webhook.h"

#define HOUR (60 * 60 * INT64_C(1000))

static bool contains(const char *line) {
    struct slice all = content();
    return memmem(all.p, all.n, line, strlen(line));
}

/* The first line of `after` that differs from `before`. */
static const char *difference(struct slice before, struct slice after) {
    size_t line = 0, i = 0;
    while (i < before.n && i < after.n && before.p[i] == after.p[i])
        if (after.p[i++] == '\n')
            line = i;
    const char *end = memchr(after.p + line, '\n', after.n - line);
    return arena_copy(&arena, (struct slice){after.p + line, end ? (size_t)(end - after.p) - line
                                                                 : after.n - line});
}

typedef enum store_result use_case(void);

/* Makes the call twice. The first one changes the content; the second one, with the result `again`,
 * does not. */
static void repeat(const char *name, use_case *call, enum store_result again) {
    struct slice empty = content();
    enum store_result result = with_faults(name, call);
    check(result == STORE_OK, "%s: %d %s", name, result, store_reason(store));
    struct slice first = content();
    check(!slice_equal(empty, first), "%s changes nothing", name);
    result = call();
    check(result == again, "%s again: %d %s", name, result, store_reason(store));
    struct slice second = content();
    check(slice_equal(first, second), "%s again: %s", name, difference(first, second));
}

#define REPEAT(call)            repeat(#call, call, STORE_OK)
#define REPEAT_AS(call, result) repeat(#call, call, result)
#define BOB                     "bob@example.org"

static const struct store_secret secret = {.seal = seal_nothing};
static char acc_2[] = "acc_2", other_line[ID_SIZE];

/* --- the operator's calls --- */

static enum store_result insert_user(void) {
    struct store_new_user user = {
        .id = "usr_2", .member_id = "mbr_2", .email = BOB, .token_hash = {1}, .now = now};
    return store_insert_user(store, &user);
}

static enum store_result replace_token(void) {
    return store_replace_token(store, BOB, (const unsigned char[CRYPTO_HASH_SIZE]){2}, "abcd",
                               now + 1);
}

static enum store_result set_plan(void) {
    return store_set_plan(store,
                          &(struct store_new_plan){
                              .email = BOB, .name = "Premium", .ends_at = INT64_MAX, .now = now});
}

static enum store_result replace_plan(void) {
    return store_set_plan(
        store,
        &(struct store_new_plan){.email = BOB, .name = "Enterprise", .ends_at = now, .now = now});
}

static enum store_result set_addon(void) {
    return store_set_plan(
        store,
        &(struct store_new_plan){
            .email = BOB, .name = "More", .is_addon = true, .ends_at = INT64_MAX, .now = now});
}

static enum store_result insert_account(void) {
    struct store_new_account account = {.id = acc_2,
                                        .email = BOB,
                                        .waba_id = "77",
                                        .name = "B",
                                        .token = &secret,
                                        .make_default = true,
                                        .now = now};
    return store_insert_account(store, &account);
}

static struct slice seal_other(void *context) {
    (void)context;
    return SLICE("sealed otherwise");
}

static const struct store_secret other_secret = {.seal = seal_other};

static enum store_result set_account_token(void) {
    return store_set_account_token(store, acc_2, &other_secret);
}

static enum store_result add_line(const char *id) {
    struct store_new_line line = {.id = id,
                                  .account_id = acc_2,
                                  .phone_number_id = "770",
                                  .phone_number = "+1",
                                  .make_primary = true,
                                  .now = now};
    return store_insert_line(store, &line, other_line);
}

static enum store_result insert_line(void) {
    return add_line("lin_2");
}

static enum store_result archive_line(void) {
    return store_archive_line(store, "770", now + 1);
}

static enum store_result set_line_rate(void) {
    return store_set_line_rate(store, "770", 7);
}

static enum store_result register_line(void) {
    return store_register_line(store, "770");
}

static enum store_result restore_line(void) {
    return add_line("lin_3");
}

static enum store_result block_contact(void) {
    struct store_block block = {
        .phone_number_id = "770", .phone = "15551", .now = now, .contact_id = "con_block"};
    return store_block_contact(store, &block);
}

static enum store_result unblock_contact(void) {
    struct store_block block = {.phone_number_id = "770", .phone = "15551", .now = now};
    bool was_blocked;
    return store_unblock_contact(store, &block, &was_blocked);
}

static enum store_result delete_user(void) {
    return store_delete_user(store, BOB, now + 2);
}

static void check_operator(void) {
    REPEAT(insert_user);
    REPEAT(replace_token);
    REPEAT(set_plan);
    REPEAT(replace_plan);
    REPEAT(set_addon);
    REPEAT(insert_account);
    REPEAT(set_account_token);
    REPEAT(insert_line);
    REPEAT(set_line_rate);
    REPEAT(register_line);
    REPEAT(archive_line);
    REPEAT_AS(restore_line, STORE_CONFLICT);
    REPEAT(block_contact);
    REPEAT(unblock_contact);
    REPEAT_AS(delete_user, STORE_NOT_FOUND);
    struct store_new_user same = {
        .id = "usr_3", .member_id = "mbr_3", .email = "ann@example.org", .now = now};
    check(store_insert_user(store, &same) == STORE_CONFLICT, "a second user of one email");
}

/* --- webhooks and events --- */

static enum store_result set_config(void) {
    return store_upsert_webhook_config(store, "usr_1", "http://127.0.0.1:8/", &other_secret,
                                       now + 1);
}

static struct slice seal_third(void *context) {
    (void)context;
    return SLICE("sealed a third time");
}

static enum store_result replace_code(void) {
    return store_upsert_webhook_config(store, "usr_1", NULL,
                                       &(struct store_secret){.seal = seal_third}, now + 2);
}

static enum store_result want_status(void) {
    return store_change_webhook(
        store, &(struct store_webhook_change){
                   .user_id = "usr_1", .switched_type = "message.status", .now = now});
}

static const char *event_id = "evt_00000000000000000000000001";

static enum store_result insert_event(void) {
    return store_insert_test_event(store, &arena, "usr_1", NULL, event_id, now, event_body);
}

/* The id of the first webhook. */
static const char *first_webhook(void) {
    struct store_webhook *list;
    size_t count;
    check_ok(store_list_webhooks(store, &arena, "usr_1", &(struct store_page){.limit = 1}, &list,
                                 &count));
    check(count == 1 && list->is_first, "%zu webhooks", count);
    return count ? list->id : "";
}

static struct store_attempt attempt;
static struct store_exchange exchange = {.courier = "cou_1", .attempts = &attempt};

/* Leases the event to the courier, as the deliveries before an attempt do. */
static void lease(int64_t at) {
    struct store_delivery *deliveries;
    size_t count;
    const struct store_share share = {
        .webhook_id = first_webhook(), .user_id = "usr_1", .limit = 1};
    struct store_exchange leasing = {
        .courier = "cou_1", .now = at, .shares = &share, .share_count = 1};
    check_ok(store_exchange_events(store, &arena, &leasing, &deliveries, &count));
    check(count == 1 && strcmp(deliveries[0].event_id, event_id) == 0, "%zu leased", count);
    attempt = (struct store_attempt){.event_id = event_id,
                                     .webhook_id = share.webhook_id,
                                     .user_id = "usr_1",
                                     .is_probe = count && deliveries[0].is_probe,
                                     .started_at = at + 1,
                                     .duration_ms = 5,
                                     .response_head = SLICE("body")};
    exchange.now = at + 10;
    exchange.attempt_count = 1;
}

static enum store_result end_attempt(void) {
    struct store_delivery *deliveries;
    size_t count;
    return store_exchange_events(store, &arena, &exchange, &deliveries, &count);
}

static enum store_result release_event(void) {
    return store_release_event(store, "cou_1", event_id, first_webhook());
}

static enum store_result replay_event(void) {
    return store_replay_event(store, NULL, event_id, now + 20 * HOUR);
}

static enum store_result replay_events(void) {
    size_t count;
    return store_replay_events(store, 0, INT64_C(1) << 40, now + 21 * HOUR, &count);
}

static enum store_result replay_failed_events(void) {
    size_t count;
    bool more;
    return store_replay_failed_events(store, "usr_1", 0, true, now + 20 * HOUR + 5, &count, &more);
}

static enum store_result end_suspension(void) {
    return store_change_webhook(store, &(struct store_webhook_change){.user_id = "usr_1",
                                                                      .ends_suspension = true,
                                                                      .now = now + 22 * HOUR});
}

/* Repairs in parts, to the end. */
static enum store_result repair_times(void) {
    size_t mended = 1;
    enum store_result result = STORE_OK;
    while (result == STORE_OK && mended)
        result = store_repair_times(store, &arena, now - 90 * 24 * HOUR, &mended);
    return result;
}

static enum store_result delete_config(void) {
    return store_delete_webhook_config(store, "usr_1", now + 23 * HOUR);
}

/* --- any number of webhooks --- */

static struct store_webhook_change added = {.id = "whk_2",
                                            .user_id = "usr_1",
                                            .kind = WEBHOOK_EVENT,
                                            .name = "Desk",
                                            .url = "http://127.0.0.1:8/two",
                                            .code = &other_secret};

static enum store_result insert_webhook(void) {
    added.now = now + 24 * HOUR;
    return store_insert_webhook(store, &added);
}

static enum store_result insert_forward(void) {
    struct store_webhook_change forward = added;
    forward.id = "whk_3";
    forward.kind = WEBHOOK_FORWARD;
    forward.pauses = true;
    forward.updates = "messages";
    forward.splits_messages = true;
    return store_insert_webhook(store, &forward);
}

static enum store_result insert_callback(void) {
    struct store_webhook_change callback = added;
    callback.id = "whk_4";
    callback.kind = WEBHOOK_FORWARD;
    callback.account_id = account_id;
    return store_insert_webhook(store, &callback);
}

static enum store_result set_fields(void) {
    return store_set_subscribed_fields(store, "usr_1", account_id, "messages flows",
                                       now + 25 * HOUR);
}

static enum store_result forget_fields(void) {
    return store_set_subscribed_fields(store, "usr_1", account_id, NULL, now + 26 * HOUR);
}

static enum store_result change_webhook(void) {
    const struct store_webhook_change change = {
        .id = "whk_2",
        .user_id = "usr_1",
        .sets_name = true,
        .sets_url = true,
        .sets_event_types = true,
        .sets_lines = true,
        .url = "http://127.0.0.1:8/other",
        .event_types = "lead.created",
        .line_ids = "lin_1",
        .code = &(struct store_secret){.seal = seal_third},
        .pauses = true,
        .now = now + 25 * HOUR,
    };
    return store_change_webhook(store, &change);
}

static enum store_result resume_webhook(void) {
    return store_change_webhook(
        store, &(struct store_webhook_change){
                   .id = "whk_2", .user_id = "usr_1", .resumes = true, .now = now + 26 * HOUR});
}

static enum store_result delete_webhook(void) {
    return store_delete_webhook(store, "usr_1", "whk_2", now + 27 * HOUR);
}

static enum store_result insert_second_test(void) {
    return store_insert_test_event(store, &arena, "usr_1", "whk_2",
                                   "evt_00000000000000000000000003", now + 26 * HOUR, event_body);
}

/* Whether the regular work is to be tried again, after a pause: of a connection that was cut, the
 * server may hold the lock of this work a little longer. */
static bool is_taken(enum store_result result) {
    static int pauses;
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    if (result != STORE_BUSY || ++pauses > 3000)
        return false;
    nanosleep(&pause, NULL);
    return true;
}

/* Removes in parts, to the end. */
static enum store_result delete_old_rows(void) {
    size_t removed = 1;
    enum store_result result = STORE_OK;
    while ((result == STORE_OK && removed) || is_taken(result))
        result = store_delete_old_rows(store, now + 40 * 24 * HOUR, &removed);
    return result;
}

static void check_webhooks(void) {
    struct store_webhook found;
    struct store_webhook_change unknown = added;
    REPEAT(insert_webhook);
    REPEAT(insert_forward);
    REPEAT(insert_callback);
    REPEAT(set_fields);
    REPEAT(forget_fields);
    REPEAT(change_webhook);
    check_ok(store_find_webhook(store, &arena, NULL, "whk_2", &found));
    check(found.event_types && strcmp(found.event_types, "lead.created") == 0 && !found.all_lines &&
              found.line_count == 1 && !*found.name && !found.is_first &&
              strcmp(store_webhook_state(&found), "paused") == 0,
          "the changed webhook: %s", store_webhook_state(&found));
    REPEAT(resume_webhook);
    REPEAT(insert_second_test);
    check_ok(store_find_webhook(store, &arena, "usr_1", "whk_2", &found));
    check(found.pending == 1 && found.dead == 0, "%lld pending", (long long)found.pending);
    REPEAT_AS(delete_webhook, STORE_NOT_FOUND);
    check(contains("delivery.state:3 cancelled\n"), "its pending delivery is cancelled");
    unknown.user_id = "usr_none";
    check(store_change_webhook(store, &unknown) == STORE_NOT_FOUND, "a webhook of another");
    check(store_find_webhook(store, &arena, "usr_1", "whk_2", &found) == STORE_NOT_FOUND,
          "a deleted webhook");
    check(store_insert_test_event(store, &arena, "usr_1", "whk_2", "evt_4", now, event_body) ==
              STORE_NOT_FOUND,
          "a test of a deleted webhook");
}

static void check_events(void) {
    REPEAT(set_config);
    REPEAT(replace_code);
    REPEAT(want_status);
    REPEAT(insert_event);
    lease(now + 10);
    REPEAT(release_event);
    lease(now + 20);
    attempt.verdict = VERDICT_RETRY;
    attempt.next_attempt_at = now + HOUR;
    attempt.error = "HTTP 500";
    attempt.status = 500;
    REPEAT(end_attempt);
    /* the courier leased the same event again before it learned that its report was stored */
    lease(now + 2 * HOUR);
    struct store_attempt second = attempt;
    second.verdict = VERDICT_RETRY;
    second.started_at = now + 21;
    second.next_attempt_at = now + 9 * HOUR;
    attempt = second;
    struct slice before = content();
    check_ok(end_attempt());
    check(slice_equal(before, content()), "a stored attempt ends a later lease");
    attempt.started_at = now + 2 * HOUR + 1;
    attempt.verdict = VERDICT_GONE;
    REPEAT(end_attempt);
    event_id = "evt_00000000000000000000000002";
    REPEAT(insert_event);
    lease(now + 4 * HOUR);
    check(attempt.is_probe, "a probe of a suspended webhook");
    attempt.verdict = VERDICT_RETRY;
    attempt.next_attempt_at = now + 5 * HOUR;
    REPEAT(end_attempt);
    lease(now + 6 * HOUR);
    attempt.verdict = VERDICT_DELIVERED;
    attempt.status = 200;
    REPEAT(end_attempt);
    REPEAT(replay_event);
    lease(now + 20 * HOUR);
    attempt.verdict = VERDICT_DEAD;
    REPEAT(end_attempt);
    REPEAT(replay_failed_events);
    event_id = "evt_00000000000000000000000001";
    REPEAT(replay_events);
    lease(now + 21 * HOUR);
    attempt.verdict = VERDICT_GONE;
    REPEAT(end_attempt);
    REPEAT(end_suspension);
    REPEAT(repair_times);
}

/* --- logins --- */

static struct store_login login = {
    .id = "att_1", .subject = "email:1", .address = "address:1", .now = 0};
static const unsigned char link_hash[CRYPTO_HASH_SIZE] = {3}, device[CRYPTO_HASH_SIZE] = {4};
static struct store_new_session new_session = {.id = "ses_1",
                                               .member_id = "mbr_1",
                                               .hash = {1},
                                               .password = "hash 2",
                                               .address = "192.0.2.1",
                                               .agent = "curl",
                                               .device = device};
static struct store_session seen = {.id = "ses_1"};

static enum store_result begin_login(void) {
    int64_t until;
    enum store_result result = store_begin_login(store, &login, &until);
    check(!until, "its own failure does not block a login");
    return result;
}

static enum store_result fail_login(void) {
    bool has_ended;
    return store_fail_login(store, &login, &has_ended);
}

static enum store_result clear_failures(void) {
    return store_clear_login_failures(store, &login);
}

static enum store_result set_password(void) {
    return store_set_password(store, "mbr_1", "hash 1", NULL, now);
}

static enum store_result rehash_password(void) {
    return store_rehash_password(store, "mbr_1", "hash 1", "hash 2");
}

static enum store_result insert_session(void) {
    return store_insert_session(store, &new_session);
}

/* A login whose password was replaced after it was checked. */
static enum store_result insert_late_session(void) {
    struct store_new_session session = new_session;
    session.password = "hash 1";
    return store_insert_session(store, &session);
}

static enum store_result renew_session(void) {
    seen.created_at = seen.last_seen_at = now;
    return store_renew_session(store, &seen, now + SESSION_RENEWAL_MS);
}

static enum store_result insert_link(void) {
    return store_insert_link(store, "ann@example.org", link_hash, now);
}

static enum store_result use_link(void) {
    struct store_new_session session = new_session;
    session.id = "ses_2";
    session.hash[0] = 2;
    return store_use_link(store, &arena, link_hash, &session);
}

static enum store_result delete_other_sessions(void) {
    size_t count;
    return store_delete_other_sessions(store, "usr_1", "mbr_1", "ses_1", &count);
}

static enum store_result delete_session(void) {
    return store_delete_session(store, "usr_1", "mbr_1", "ses_1");
}

/* --- members and invitations --- */

static enum member_refusal refusal;
static const char *member_id = "mbr_5";
static const unsigned char invitation_hash[CRYPTO_HASH_SIZE] = {5};

static enum store_result confirm_session(void) {
    return store_confirm_session(store, "usr_1", "ses_1", now + 1);
}

static enum store_result choose_workspace(void) {
    return store_choose_workspace(store, "ses_1", "mbr_1", "usr_1");
}

static enum store_result add_member(void) {
    return store_add_member(store,
                            &(struct store_new_member){.id = "mbr_5",
                                                       .user_id = "usr_1",
                                                       .email = "cat@example.org",
                                                       .name = "Cat",
                                                       .role = ROLE_AGENT,
                                                       .created_by = "x",
                                                       .now = now},
                            &refusal);
}

static enum store_result change_role(void) {
    return store_change_member(
        store, &arena,
        &(struct store_member_change){
            .user_id = "usr_1", .member_id = "mbr_5", .by = "mbr_1", .role = ROLE_ADMIN},
        &refusal);
}

static enum store_result reset_link(void) {
    return store_insert_reset_link(
        store, &arena,
        &(struct store_member_change){.user_id = "usr_1", .member_id = "mbr_5", .by = "mbr_1"},
        invitation_hash, now, &refusal);
}

static enum store_result remove_member(void) {
    return store_remove_member(
        store, &arena,
        &(struct store_member_change){.user_id = "usr_1", .member_id = member_id, .by = "mbr_1"},
        &refusal);
}

static enum store_result insert_invitation(void) {
    return store_insert_invitation(store, &arena,
                                   &(struct store_invitation){.id = "inv_1",
                                                              .user_id = "usr_1",
                                                              .email = "dan@example.org",
                                                              .role = ROLE_AGENT,
                                                              .made_by = "mbr_1",
                                                              .created_by = "Ann",
                                                              .created_at = now,
                                                              .expires_at = now + 1000},
                                   invitation_hash, &refusal);
}

static enum store_result join(void) {
    struct store_acceptance acceptance = {
        .hash = {5}, .member_id = "mbr_6", .name = "Dan", .password = "hash", .now = now};
    struct store_new_session session = new_session;
    session.id = "ses_6";
    session.member_id = "mbr_6";
    session.hash[0] = 6;
    return store_join(store, &arena, &acceptance, &session, &refusal);
}

static enum store_result accept_invitation(void) {
    struct store_acceptance acceptance = {
        .hash = {5}, .member_id = "mbr_6", .session_id = "ses_6", .now = now};
    return store_accept_invitation(store, &arena, &acceptance, &refusal);
}

static enum store_result delete_invitation(void) {
    return store_delete_invitation(store, &arena, WHOLE_VIEW("usr_1"), "inv_1");
}

static void check_members(void) {
    REPEAT_AS(add_member, STORE_CONFLICT);
    REPEAT(change_role);
    REPEAT(reset_link);
    REPEAT_AS(remove_member, STORE_NOT_FOUND);
    REPEAT(insert_invitation);
    REPEAT_AS(delete_invitation, STORE_NOT_FOUND);
    check_ok(insert_invitation());
    REPEAT_AS(join, STORE_NOT_FOUND);
    check(accept_invitation() == STORE_NOT_FOUND, "an invitation counts once");
    check(insert_invitation() == STORE_CONFLICT, "a member is not invited");
    member_id = "mbr_6";
    check_ok(remove_member());
}

static enum store_result delete_old_logins(void) {
    enum store_result result;
    size_t removed;
    do
        result = store_delete_old_logins(store, now + LOGIN_ADDRESS_MS, 500, &removed);
    while (is_taken(result));
    return result;
}

static void check_logins(void) {
    login.now = new_session.now = now;
    for (int i = 0; i < LOGIN_ACCOUNT_FAILURES; i++) {
        login.id = fresh_id("att_");
        REPEAT(begin_login);
        REPEAT(fail_login);
    }
    REPEAT(clear_failures);
    REPEAT(set_password);
    REPEAT(rehash_password);
    check(insert_late_session() == STORE_NOT_FOUND, "another password ends a login");
    REPEAT(insert_session);
    REPEAT(renew_session);
    REPEAT(confirm_session);
    check_ok(choose_workspace());
    check_members();
    REPEAT(insert_link);
    REPEAT_AS(use_link, STORE_CONFLICT);
    REPEAT(delete_other_sessions);
    REPEAT_AS(delete_session, STORE_NOT_FOUND);
    REPEAT(delete_old_logins);
}

/* --- idempotency keys --- */

static const struct store_idempotency_key key = {.user_id = "usr_1", .key = "k"};
static struct store_idempotency started;

static enum store_result start_key(const char *request_id, int64_t at) {
    started = (struct store_idempotency){.route = "POST /a"};
    snprintf(started.request_id, ID_SIZE, "%s", request_id);
    return store_insert_idempotency_key(store, &arena, &key, at, &started);
}

static enum store_result insert_key(void) {
    enum store_result result = start_key("req_1", now);
    check(started.is_new && started.started_at == now, "its own key is new");
    return result;
}

static enum store_result key_heartbeat(void) {
    return store_update_idempotency_heartbeat(store, &key, "req_1", now + 1);
}

static enum store_result update_key(void) {
    return store_update_idempotency_key(store, &key, "req_1", (const unsigned char[32]){1}, 200,
                                        SLICE("{}"));
}

static enum store_result seal_key(void) {
    return store_seal_idempotency_key(store, &key, "req_1", &secret);
}

static enum store_result restart_key(void) {
    enum store_result result = start_key("req_3", now + IDEMPOTENCY_KEPT_MS + 2);
    check(started.is_new && !started.status, "a key of yesterday is new");
    return result;
}

static enum store_result delete_key(void) {
    return store_delete_idempotency_key(store, &key, "req_3");
}

/* What a request does with its key that another request has started since changes nothing. */
static void check_foreign_key(void) {
    check_ok(start_key("req_4", now));
    struct slice before = content();
    check_ok(key_heartbeat());
    check_ok(update_key());
    check_ok(seal_key());
    check_ok(delete_key());
    check(slice_equal(before, content()), "%s", difference(before, content()));
    check_ok(store_delete_idempotency_key(store, &key, "req_4"));
}

static void check_keys(void) {
    REPEAT(insert_key);
    check_ok(start_key("req_2", now));
    check(!started.is_new && strcmp(started.request_id, "req_1") == 0, "%s", started.request_id);
    REPEAT(key_heartbeat);
    REPEAT(update_key);
    REPEAT(seal_key);
    check_ok(start_key("req_2", now + 1 + IDEMPOTENCY_KEPT_MS));
    check(!started.is_new && started.status == 200, "a key of 24 hours is kept");
    REPEAT(restart_key);
    REPEAT(delete_key);
    check_foreign_key();
    check_ok(insert_key());
    size_t removed;
    check_ok(store_delete_old_rows(store, now + IDEMPOTENCY_KEPT_MS, &removed));
    check(removed == 0, "%zu keys of 24 hours removed", removed);
    check_ok(store_delete_old_rows(store, now + IDEMPOTENCY_KEPT_MS + 1, &removed));
    check(removed == 1, "%zu older keys removed", removed);
}

/* --- flows, sends, refused payloads, the rest --- */

static enum store_result upsert_flows(void) {
    const struct store_flow flow = {
        .flow_id = "f1", .name = "Flow", .status = "DRAFT", .validation = SLICE("[]")};
    return store_upsert_flows(store, &arena, account_id, &flow, 1, now);
}

static enum store_result upsert_template_flows(void) {
    const struct store_template_flow row = {"t", "en", "f1"};
    return store_upsert_template_flows(store, account_id, &row, 1, now);
}

static struct store_send sent;

static enum store_result insert_send(void) {
    return store_insert_send(store, &sent);
}

static void check_send(const char *wamid, const char *phone, const char *wa_id, const char *bsuid) {
    sent = (struct store_send){.user_id = "usr_1",
                               .account_id = account_id,
                               .line_id = line_id,
                               .phone = phone,
                               .wa_id = wa_id,
                               .bsuid = bsuid,
                               .wamid = wamid,
                               .type = "template",
                               .body = SLICE("{}"),
                               .template_name = "t",
                               .template_language = "en",
                               .flow_token = "token",
                               .now = now};
    id_make(sent.new_contact_id, "con_", now);
    id_make(sent.new_thread_id, "thr_", now);
    id_make(sent.message_id, "msg_", now);
    REPEAT(insert_send);
}

/* A send of a flow has a flow instead of a template. */
static void check_flow_send(void) {
    sent.wamid = "wamid.4";
    sent.template_name = sent.template_language = NULL;
    sent.flow_id = "f2";
    sent.flow_token = "token-2";
    id_make(sent.message_id, "msg_", now);
    REPEAT(insert_send);
    check(contains("flow_token.token:3 token-2\n"), "the token of the flow is stored");
    check(contains("flow_token.flow_id:3 f2\n"), "its flow is stored");
}

static const char *refusal_id = "ref_1";
static int64_t refused_at;

static enum store_result upsert_refusal(void) {
    return store_upsert_refusal(store, refusal_id, "too large", -1, SLICE("{}"), refused_at);
}

static enum store_result delete_refusal(void) {
    return store_delete_refusal(store, "ref_1");
}

static enum store_result upsert_heartbeat(void) {
    return store_upsert_heartbeat(
        store, &(struct store_heartbeat){
                   .name = "courier", .host = "a", .pid = 7, .at = now, .keys = "1-0011aabb"});
}

static enum store_result end_heartbeat(void) {
    return store_end_heartbeat(
        store, &(struct store_heartbeat){.name = "courier", .host = "a", .pid = 7, .at = now});
}

static bool begin(void *context) {
    (void)context;
    return true;
}

static bool end(void *context, size_t changed) {
    (void)context, (void)changed;
    return true;
}

/* Like the rotation of keys: a value that is sealed with the newest key stays. */
static struct slice reseal_value(void *context, const struct store_sealed *value) {
    (void)context;
    return slice_equal(value->value, SLICE("newest")) ? value->value : SLICE("newest");
}

static enum store_result reseal(void) {
    const struct store_resealing resealing = {.begin = begin, .reseal = reseal_value, .end = end};
    size_t changed;
    return store_reseal(store, &arena, &resealing, &changed);
}

static void check_rest(void) {
    make_account();
    REPEAT(upsert_flows);
    REPEAT(upsert_template_flows);
    check_send("wamid.1", "15550000001", "15550000002", NULL);
    check_send("wamid.2", "15550000001", "15550000002", NULL);
    check_send("wamid.3", NULL, NULL, "US.1");
    check_flow_send();
    refused_at = now;
    REPEAT(upsert_refusal);
    refusal_id = "ref_2";
    refused_at = now + 1;
    REPEAT(upsert_refusal);
    REPEAT_AS(delete_refusal, STORE_NOT_FOUND);
    REPEAT(upsert_heartbeat);
    REPEAT(end_heartbeat);
    REPEAT(reseal);
}

/* --- the platform's updates --- */

#define CHANGE(FIELD, VALUE)                                                                       \
    "{\"field\":\"" FIELD "\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"}," VALUE "}}"
#define FROM(PHONE, BSUID) "\"from\":\"" PHONE "\",\"from_user_id\":\"" BSUID "\","
#define WHEN               "\"timestamp\":\"1780000000\","
#define MESSAGE(ID, FROM, REST)                                                                    \
    CHANGE("messages", "\"messages\":[{" FROM WHEN "\"id\":\"" ID "\"," REST "}]")
#define TEXT_OF(ID, PHONE, BSUID)                                                                  \
    MESSAGE(ID, FROM(PHONE, BSUID), "\"type\":\"text\",\"text\":{\"body\":\"x\"}")
#define STATUS(ID, STATUS, PHONE, BSUID)                                                           \
    CHANGE("messages", "\"statuses\":[{\"id\":\"" ID "\",\"status\":\"" STATUS "\"," WHEN          \
                       "\"recipient_id\":\"" PHONE "\",\"recipient_user_id\":\"" BSUID "\"}]")
#define REPLY                                                                                      \
    "\"context\":{\"id\":\"s1\"},\"type\":\"interactive\",\"interactive\":{\"type\":\"nfm_"        \
    "reply\","                                                                                     \
    "\"nfm_reply\":{\"response_json\":\"{\\\"flow_token\\\":\\\"token\\\"}\"}}"
#define HISTORY(ID, PHONE, REST)                                                                   \
    CHANGE("history", "\"history\":[{\"threads\":[{\"id\":\"" PHONE                                \
                      "\",\"messages\":[{\"from\":\"" PHONE "\"," WHEN "\"id\":\"" ID "\"," REST   \
                      ",\"history_context\":{\"status\":\"READ\"}}]}]}]")

/* One payload each. */
static const char *const payloads[] = {
    TEXT_OF("m1", "15550001555", "US.1"),
    MESSAGE("m2", FROM("15550001556", "US.2"),
            "\"referral\":{\"source_id\":\"ad\"},\"type\":\"text\""),
    MESSAGE("m3", FROM("15550001556", "US.2"), REPLY),
    STATUS("s1", "sent", "15550001555", "US.1") "," STATUS("s1", "delivered", "15550001555",
                                                           "US.1"),
    STATUS("s2", "failed", "15550001557", "US.3"),
    /* a recycled phone: each status gives the phone to another person */
    STATUS("s3", "sent", "15550001558", "US.4") "," STATUS("s4", "sent", "15550001558", "US.5"),
    /* a message that a history update contains, then its own update */
    HISTORY("h1", "15550001559", REPLY),
    MESSAGE("h1", FROM("15550001559", "US.6"), REPLY),
    /* identities of two contacts in one payload */
    MESSAGE("m4", "\"from\":\"15550001560\",", "\"type\":\"text\""),
    MESSAGE("m5", "\"from_user_id\":\"US.7\",", "\"type\":\"text\""),
    TEXT_OF("m6", "15550001560", "US.7"),
    MESSAGE("n1", "\"from\":\"15550001560\",",
            "\"type\":\"system\",\"system\":{\"body\":\"User A changed from 15550001560 to "
            "15550001561\","
            "\"wa_id\":\"15550001561\",\"user_id\":\"US.8\",\"previous_user_id\":\"US.7\","
            "\"type\":\"user_changed_number\"}"),
    CHANGE("smb_message_echoes", "\"message_echoes\":[{\"from\":\"1\",\"to\":\"15550001562\"," WHEN
                                 "\"id\":\"e1\",\"type\":\"text\"}]"),
    CHANGE("automatic_events",
           "\"automatic_events\":[{\"id\":\"m1\",\"event_name\":\"LeadSubmitted\"," WHEN
           "\"ctwa_clid\":\"c\"}]"),
    ("{\"field\":\"message_template_status_update\",\"value\":{\"event\":\"APPROVED\","
     "\"message_template_id\":5,\"message_template_name\":\"t\","
     "\"message_template_language\":\"en\"}}"),
    ("{\"field\":\"flows\",\"value\":{\"event\":\"FLOW_STATUS_CHANGE\",\"flow_id\":\"f1\","
     "\"old_status\":\"DRAFT\",\"new_status\":\"PUBLISHED\"}}"),
    "{\"field\":\"something\",\"value\":{\"a\":1}}",
};

static const char *payload;

static enum store_result ingest(void) {
    take(payload);
    return STORE_OK;
}

/* Two updates under the WABA id of another account. */
static enum store_result ingest_foreign(void) {
    struct store_update updates[] = {{.kind = UPDATE_OTHER,
                                      .field = "messages",
                                      .waba_id = "77",
                                      .phone_number_id = line_name,
                                      .body = SLICE("{}")},
                                     {0}};
    updates[1] = updates[0];
    return store_ingest(
        store, &arena,
        &(struct store_payload){
            .updates = updates, .count = 2, .now = refused_at, .write = event_body});
}

static void check_updates(void) {
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        payload = payloads[i];
        repeat(payload, ingest, STORE_OK);
    }
    check(contains("flow_reply_count.responses:1 2\n"), "both replies are counted");
    refused_at = now;
    REPEAT(ingest_foreign);
    refused_at = now + 1;
    REPEAT(ingest_foreign);
    check(contains("foreign_waba.count:1 4\n"), "four foreign updates are counted");
}

/* --- the owner's calls --- */

static const char *owned_thread, *owned_contact;

static enum store_result block_everywhere(void) {
    return store_block(store, &arena,
                       &(struct store_owner_block){
                           .view = WHOLE_VIEW("usr_1"), .contact_id = owned_contact, .now = now});
}

static enum store_result unblock_line(void) {
    return store_unblock(store, &arena,
                         &(struct store_owner_block){.view = WHOLE_VIEW("usr_1"),
                                                     .contact_id = owned_contact,
                                                     .phone_number_id = line_name,
                                                     .now = now});
}

static enum store_result mark_read(void) {
    int64_t unread;
    return store_mark_read(store, WHOLE_VIEW("usr_1"), owned_thread, NULL, &unread);
}

static enum store_result mark_unread(void) {
    int64_t unread;
    return store_mark_unread(store, WHOLE_VIEW("usr_1"), owned_thread, &unread);
}

static enum store_result mark_done(void) {
    struct store_done left;
    return store_mark_done(store, WHOLE_VIEW("usr_1"), owned_thread, INT64_MAX, now, &left);
}

static enum store_result unmark_done(void) {
    struct store_done left;
    return store_unmark_done(store, WHOLE_VIEW("usr_1"), owned_thread, &left);
}

static enum store_result assign_to(const struct store_view *view, const char *member,
                                   bool is_free) {
    const struct store_assignment assignment = {
        .view = view, .thread_id = owned_thread, .member_id = member, .has_from = is_free};
    struct actor assignee;
    enum assignment_refusal refusal_of = ASSIGNMENT_NOT_REFUSED;
    enum store_result result = store_assign(store, &arena, &assignment, &assignee, &refusal_of);
    return result == STORE_OK && refusal_of ? STORE_CONFLICT : result;
}

static enum store_result assign_thread(void) {
    return assign_to(WHOLE_VIEW("usr_1"), "mbr_1", true);
}

static enum store_result free_thread(void) {
    return assign_to(WHOLE_VIEW("usr_1"), NULL, false);
}

/* A member with own threads only does not see it any more then. */
static enum store_result hand_on_thread(void) {
    const struct store_view view = {.user_id = "usr_1", .own_id = "mbr_9"};
    return assign_to(&view, "mbr_1", true);
}

static enum store_result note_typing(void) {
    return store_note_typing(store, WHOLE_VIEW("usr_1"), owned_thread, "mbr_1", now);
}

static struct store_claim claim_of(void) {
    static const struct store_view view = {.user_id = "usr_1"};
    return (struct store_claim){
        .thread_id = owned_thread,
        .to = {.view = &view, .account_id = account_id, .line_id = line_id, .phone = "15550009999"},
        .by = {"mbr_1", "Ann"},
        .request_id = "req_1",
        .now = now,
        .until = now + 1000};
}

static enum store_result claim_thread(void) {
    const struct store_claim claim = claim_of();
    struct store_claimant other;
    enum store_result result = store_claim_thread(store, &arena, &claim, &other);
    return result == STORE_OK && other.by.id ? STORE_CONFLICT : result;
}

static enum store_result release_claim(void) {
    const struct store_claim claim = claim_of();
    return store_release_claim(store, &claim);
}

static enum store_result insert_note(void) {
    const struct store_note note = {.id = "not_1",
                                    .thread_id = owned_thread,
                                    .text = "x",
                                    .by = {"mbr_1", "Ann"},
                                    .created_at = now};
    return store_insert_note(store, WHOLE_VIEW("usr_1"), &note);
}

static enum store_result delete_note(void) {
    return store_delete_note(store, WHOLE_VIEW("usr_1"), "not_1", "mbr_1");
}

static enum store_result insert_reply(void) {
    enum canned_reply_refusal why;
    const struct store_canned_reply reply = {
        .id = "rpl_1", .shortcut = "hi", .text = "x", .by = {"mbr_1", "Ann"}, .created_at = now};
    enum store_result result = store_insert_canned_reply(store, "usr_1", &reply, &why);
    return result == STORE_OK && why ? STORE_CONFLICT : result;
}

static enum store_result change_reply(void) {
    enum canned_reply_refusal why;
    const struct store_canned_reply reply = {.id = "rpl_1", .shortcut = "ho", .updated_at = now};
    enum store_result result = store_change_canned_reply(store, "usr_1", &reply, "mbr_1", &why);
    return result == STORE_OK && why ? STORE_CONFLICT : result;
}

static enum store_result delete_reply(void) {
    enum canned_reply_refusal why;
    return store_delete_canned_reply(store, "usr_1", "rpl_1", "mbr_1", &why);
}

static enum store_result change_line(void) {
    const struct line_change change = {
        .sets_name = true, .name = "Desk", .archives = true, .now = now};
    return store_change_line(store, "usr_1", line_id, &change);
}

static enum store_result bring_line_back(void) {
    const struct line_change change = {.makes_primary = true, .restores = true};
    return store_change_line(store, "usr_1", line_id, &change);
}

/* Undoes the change from US.10 to US.11. */
static enum store_result split_contact(void) {
    struct store_contact_split split = {
        .contact_id = owned_contact, .identity = "US.11", .now = now + 1};
    return store_split_contact(store, &arena, &split);
}

static void check_split(void) {
    struct contact *contacts;
    size_t count;
    make_account();
    take(TEXT_OF("p1", "15550008888", "US.10"));
    take(TEXT_OF("p2", "15550008889", "US.11"));
    take(MESSAGE("p3", "\"from\":\"15550008888\",",
                 "\"type\":\"system\",\"system\":{\"wa_id\":\"15550008889\","
                 "\"user_id\":\"US.11\",\"previous_user_id\":\"US.10\","
                 "\"type\":\"user_changed_number\"}"));
    check_ok(store_list_contacts(
        store, &arena, &(struct contact_filter){NULL, account_id, .limit = 9}, &contacts, &count));
    check(count == 1, "%zu contacts", count);
    owned_contact = contacts[0].id;
    REPEAT(split_contact);
    check_ok(store_list_contacts(
        store, &arena, &(struct contact_filter){NULL, account_id, .limit = 9}, &contacts, &count));
    check(count == 2, "%zu contacts", count);
}

static void check_owner(void) {
    struct contact *contacts;
    struct contact_thread *threads;
    size_t count;
    make_account();
    take(TEXT_OF("o1", "15550009999", "US.9"));
    check_ok(store_list_contacts(
        store, &arena, &(struct contact_filter){NULL, account_id, .limit = 1}, &contacts, &count));
    check(count == 1, "%zu contacts", count);
    owned_contact = contacts[0].id;
    check_ok(store_list_contact_threads(store, &arena, WHOLE_VIEW(NULL), owned_contact, &threads,
                                        &count));
    check(count == 1, "%zu threads", count);
    owned_thread = threads[0].id;
    REPEAT(block_everywhere);
    REPEAT(unblock_line);
    REPEAT(mark_read);
    REPEAT(mark_unread);
    REPEAT(mark_done);
    REPEAT(unmark_done);
    REPEAT(assign_thread);
    REPEAT(free_thread);
    REPEAT_AS(hand_on_thread, STORE_NOT_FOUND);
    REPEAT(note_typing);
    REPEAT(claim_thread);
    REPEAT(release_claim);
    REPEAT(insert_note);
    REPEAT_AS(delete_note, STORE_NOT_FOUND);
    REPEAT(insert_reply);
    REPEAT(change_reply);
    REPEAT_AS(delete_reply, STORE_NOT_FOUND);
    REPEAT(change_line);
    REPEAT(bring_line_back);
}

static enum store_result erase_contact(void) {
    struct store_erasure erasure;
    return store_erase_contact(store, &arena, "usr_1", owned_contact, now, &erasure);
}

/* Does all parts, to the end. */
static enum store_result erase_parts(void) {
    size_t done = 1;
    enum store_result result = STORE_OK;
    while ((result == STORE_OK && done) || is_taken(result))
        result = store_erase_part(store, event_body, now, &done);
    return result;
}

static void check_erasure(void) {
    struct contact *contacts;
    size_t count;
    make_account();
    take(TEXT_OF("e1", "15550007777", "US.7"));
    check_ok(store_list_contacts(
        store, &arena, &(struct contact_filter){NULL, account_id, .limit = 1}, &contacts, &count));
    check(count == 1, "%zu contacts", count);
    owned_contact = contacts[0].id;
    REPEAT(erase_contact);
    REPEAT(erase_parts);
}

int main(void) {
    open_state();
    start_faults();
    check_operator();
    make_account();
    check_events();
    check_logins();
    check_keys();
    check_rest();
    check_updates();
    check_owner();
    check_split();
    check_erasure();
    check_webhooks();
    REPEAT(delete_config);
    REPEAT(delete_old_rows);
    close_state();
    end_faults();
    return check_failures();
}
