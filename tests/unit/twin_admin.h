/* Twins that change users, accounts and lines, log in, rotate keys and use idempotency keys
 * (twin.h). */
#ifndef SWITCHBOARD_TEST_TWIN_ADMIN_H
#define SWITCHBOARD_TEST_TWIN_ADMIN_H

#include "store/canned_reply.h"
#include "store/deed.h"
#include "store/heartbeat.h"
#include "store/idempotency_key.h"
#include "store/invitation.h"
#include "store/line.h"
#include "store/refusal.h"
#include "store/scoped_token.h"
#include "store/sealed.h"
#include "store/second_factor.h"
#include "twin_outbox.h"

/* Counts a success, of which a round has one. */
static inline void is_only(bool succeeded, const char *what) {
    if (succeeded && atomic_fetch_add(&board->cells[0], 1))
        fault("%s succeeded twice", what);
}

/* The case has a success in each round. */
static inline void ends_round(int twin, const char *what) {
    if (twin == 0 && atomic_exchange(&board->cells[0], 0) != 1)
        fault("%s did not succeed once", what);
}

/* --- the rotation of keys: the last key seals all secrets --- */

static inline struct slice seal_now(void *context) {
    (void)context;
    return slice_of(text("key %d", board->cells[1]));
}

static const struct store_secret current_code = {.seal = seal_now};

static inline bool begin_rotation(void *context) {
    if (atomic_exchange(&board->cells[2], 1))
        fault("two rotations at the same time");
    *(int *)context = board->cells[1] + 1;
    return true;
}

static inline struct slice seal_again(void *context, const struct store_sealed *value) {
    (void)value;
    return slice_of(text("key %d", *(int *)context));
}

static inline bool end_rotation(void *context, size_t changed) {
    (void)changed;
    board->cells[1] = *(int *)context;
    board->cells[2] = 0;
    return true;
}

static inline void check_keys(void) {
    struct store_sealed *values;
    size_t count;
    does(store_list_sealed(store, &scratch, &values, &count));
    for (size_t i = 0; i < count; i++)
        if (!slice_equal(values[i].value, seal_now(NULL)))
            fault("%s: %.*s, the current one is %d", values[i].what, (int)values[i].value.n,
                  values[i].value.p, board->cells[1]);
}

/* Stores a sealed answer with an idempotency key. */
static inline void seal_answer(int round) {
    const struct store_idempotency_key key = {.user_id = user_id, .key = text("sealed %d", round)};
    struct store_idempotency found = {.route = "POST /a"};
    snprintf(found.request_id, ID_SIZE, "%s", new_id("req_"));
    if (does(store_insert_idempotency_key(store, &scratch, &key, now, &found)))
        does(store_seal_idempotency_key(store, &key, found.request_id, &current_code));
}

static inline void rotate(int twin, int round) {
    int number;
    size_t changed;
    struct store_new_account account = {.id = text("acc_%s.%d", user_id, round),
                                        .email = email,
                                        .waba_id = text("7%d", round),
                                        .name = "B",
                                        .token = &current_code,
                                        .now = now};
    if (is_phase(round, 1, 2)) {
        if (twin == 0)
            check_keys();
        return;
    }
    switch (twin) {
    case 0:
    case 1:
        does(store_reseal(store, &scratch,
                          &(struct store_resealing){.context = &number,
                                                    .begin = begin_rotation,
                                                    .reseal = seal_again,
                                                    .end = end_rotation},
                          &changed));
        return;
    case 2:
    case 3: does(store_set_account_token(store, account_id, &current_code)); return;
    case 4: may(store_insert_account(store, &account), STORE_CONFLICT); return;
    case 5: seal_answer(round); return;
    default:
        pause_twin(round, 5); /* the codes are sealed again after the tokens */
        does(store_upsert_webhook_config(store, user_id, NULL, &current_code, now + round));
    }
}

static inline void verify_keys(int rounds) {
    struct store_sealed *values;
    size_t count;
    check_ok(store_list_sealed(store, &arena, &values, &count));
    check(count > (size_t)rounds / 2, "%zu secrets", count);
}

/* --- users, plans, accounts and lines --- */

static inline void insert_same(int twin, int round) {
    struct store_new_user user = {.id = text("usr_%s.%d.%d", user_id, round, twin),
                                  .email = text("%d.%s", round, email),
                                  .now = now};
    user.member_id = member_of(user.id);
    snprintf((char *)user.token_hash, sizeof user.token_hash, "%s", user.id + 4);
    if (is_phase(round, 1, 2))
        ends_round(twin, "store_insert_user");
    else
        is_only(may(store_insert_user(store, &user), STORE_CONFLICT), "store_insert_user");
}

static inline void set_plans(int twin, int round) {
    (void)round;
    does(store_set_plan(store, &(struct store_new_plan){.email = email,
                                                        .name = text("plan %d", twin),
                                                        .is_addon = twin > 4,
                                                        .ends_at = now,
                                                        .now = now}));
}

static inline void verify_plans(int rounds) {
    (void)rounds;
    holds(4, OF_USER("plan"));
}

static inline void insert_lines(int twin, int round) {
    const char *phone_id = text("7%s.%d", user_id, round / 2);
    struct store_new_account account = {
        .id = fresh_id("acc_"), .email = email, .waba_id = phone_id, .name = "B", .now = now};
    struct store_new_line line = {.id = fresh_id("lin_"),
                                  .account_id = account_id,
                                  .phone_number_id = phone_id,
                                  .phone_number = "+1",
                                  .make_primary = twin % 2,
                                  .now = now};
    const struct line_change changed = {.sets_name = true,
                                        .name = text("line %d", twin),
                                        .makes_primary = !(twin % 2),
                                        .archives = twin % 2,
                                        .restores = !(twin % 2),
                                        .now = now};
    char id[ID_SIZE];
    if (is_phase(round, 1, 2)) {
        ends_round(twin, "store_insert_line");
        does(store_register_line(store, phone_id));
        does(store_set_line_rate(store, phone_id, twin + 1));
        does(store_archive_line(store, phone_id, now));
        return;
    }
    may(store_insert_account(store, &account), STORE_CONFLICT);
    is_only(may(store_insert_line(store, &line, id), STORE_CONFLICT), "store_insert_line");
    does(store_change_line(store, user_id, line_id, &changed));
}

static inline void verify_lines(int rounds) {
    holds(1 + (rounds + 1) / 2, OF_ACCOUNT("line"));
    holds(1 + (rounds + 1) / 2, OF_USER("account"));
}

/* --- users that are deleted while they log in --- */

/* All twins log in from one browser. */
static const unsigned char session_device[CRYPTO_HASH_SIZE] = {4};

static inline struct store_new_session session_of(const char *user) {
    struct store_new_session session = {.id = new_id("ses_"),
                                        .member_id = member_of(user),
                                        .password = "hash",
                                        .address = "192.0.2.1",
                                        .agent = "curl",
                                        .device = session_device,
                                        .now = now};
    memcpy(session.hash, session.id + ID_SIZE - 1 - CRYPTO_HASH_SIZE + 2, CRYPTO_HASH_SIZE - 2);
    return session;
}

static inline const unsigned char *link_of(const char *user) {
    unsigned char *hash = arena_alloc(&scratch, CRYPTO_HASH_SIZE);
    crypto_sha256(slice_of(user), hash);
    return hash;
}

static inline void make_users_with_logins(void) {
    make_users();
    for (int i = 0; i < USERS; i++) {
        check_ok(store_set_password(store, member_of(user_of(i)), "hash", NULL, now));
        check_ok(store_insert_link(store, email_of(i), link_of(user_of(i)), now));
    }
}

static inline void delete_users(int twin, int round) {
    const char *user = user_of(round);
    struct store_new_session session = session_of(user);
    enum store_result result;
    if (round >= USERS)
        return;
    switch (twin) {
    case 0:
    case 1: may(store_delete_user(store, email_of(round), now), STORE_NOT_FOUND); return;
    case 2:
        may(store_set_password(store, member_of(user), "hash", &session, now), STORE_NOT_FOUND);
        return;
    case 3: may(store_insert_session(store, &session), STORE_NOT_FOUND); return;
    case 4:
        may(store_insert_link(store, email_of(round), link_of("new"), now), STORE_NOT_FOUND);
        return;
    case 5:
        result = store_use_link(store, &scratch, link_of(user), &session);
        may(result == STORE_CONFLICT ? STORE_NOT_FOUND : result, STORE_NOT_FOUND); /* or ended */
        return;
    case 6:
        may(store_replace_token(store, email_of(round), link_of(user), "abcd", now),
            STORE_NOT_FOUND);
        return;
    default: does(store_rehash_password(store, member_of(user), "hash", "hash"));
    }
}

static inline void verify_deleted(int rounds) {
    static const char *const tables[] = {"session", "membership", "invitation", "api_token"};
    holds(rounds < USERS ? rounds : USERS,
          "SELECT count(*) FROM \"user\" WHERE id LIKE '%s.%%' AND deleted_at IS NOT NULL",
          user_id);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        holds(0,
              "SELECT count(*) FROM \"%s\" x JOIN \"user\" u ON u.id = x.user_id "
              "WHERE u.deleted_at IS NOT NULL",
              tables[i]);
    holds(0, "SELECT count(*) FROM member m JOIN \"user\" u ON substr(u.id, 5) = substr(m.id, 5) "
             "WHERE u.deleted_at IS NOT NULL");
}

/* --- sessions --- */

static inline void make_password(void) {
    check_ok(store_set_password(store, member_of(user_id), "hash", NULL, now));
}

static inline void log_in(int twin, int round) {
    struct store_new_session session = session_of(user_id);
    (void)twin, (void)round;
    does(store_insert_session(store, &session));
}

static inline void verify_sessions(int rounds) {
    holds(rounds * TWINS < SESSIONS_MAX ? rounds * TWINS : SESSIONS_MAX, OF_USER("session"));
}

static inline bool insert_scoped(const char *id) {
    const struct store_scoped_token token = {.id = id,
                                             .name = "x",
                                             .last4 = "x",
                                             .scopes = "basic",
                                             .created_by = "x",
                                             .created_at = now,
                                             .expires_at = now + 1};
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256(slice_of(id), hash);
    return may(store_insert_scoped_token(store, user_id, &token, hash), STORE_CONFLICT);
}

/* There are never more than SCOPED_TOKENS_MAX. */
static inline void insert_tokens(int twin, int round) {
    const char *id = new_id("tok_");
    if (insert_scoped(id))
        does(store_change_scoped_token(
            store, &scratch, WHOLE_VIEW(user_id), id,
            &(struct store_scoped_token_change){.name = text("%d of %d", twin, round)}));
}

static inline void verify_tokens(int rounds) {
    holds(rounds * TWINS < SCOPED_TOKENS_MAX ? rounds * TWINS : SCOPED_TOKENS_MAX,
          OF_USER("scoped_token"));
}

static void describe_former_lines(struct store_deed *deed) {
    deed->details = deed->lines->from ? deed->lines->from : "";
}

/* Each change of the lines says which ones the token had, as the change before has left them. */
static inline void change_token_lines(int twin, int round) {
    const char *id = text("tok_%s.lines", user_id);
    struct store_deed deed = {.actor = "token",
                              .actor_name = "",
                              .address = "",
                              .request_id = "",
                              .now = now,
                              .describe = describe_former_lines,
                              .arena = &scratch,
                              .action = "token.update"};
    const struct store_scoped_token_change lines = {.sets_lines = true,
                                                    .line_ids = text("lin_%d.%d", twin, round)};
    if (round == 0 && twin > 0)
        return;
    if (round == 0)
        insert_scoped(id);
    id_make(deed.id, "trl_", now);
    store_begin_deed(&deed);
    does(store_change_scoped_token(store, &scratch, WHOLE_VIEW(user_id), id, &lines));
    store_begin_deed(NULL);
}

static inline void verify_token_lines(int rounds) {
    holds((int64_t)(rounds - 1) * TWINS + 1, OF_USER("trail"));
    holds((int64_t)(rounds - 1) * TWINS + 1,
          "SELECT count(DISTINCT details) FROM trail WHERE user_id = '%s'", user_id);
}

/* A token is revoked once, also when it is used meanwhile. */
static inline void revoke_tokens(int twin, int round) {
    int64_t at = now;
    const char *id = text("tok_%s.%d", user_id, round / 3);
    if (is_phase(round, 0, 3)) {
        if (twin == 0)
            insert_scoped(id);
    } else if (is_phase(round, 1, 3)) {
        may(store_use_scoped_token(store, id, &at), STORE_NOT_FOUND);
        is_only(may(store_delete_scoped_token(store, &scratch, WHOLE_VIEW(user_id), id),
                    STORE_NOT_FOUND),
                "store_delete_scoped_token");
    } else {
        ends_round(twin, "store_delete_scoped_token");
    }
}

/* Canned replies: the limit holds, and each has a shortcut of its own. */
static inline enum canned_reply_refusal insert_canned(const char *id) {
    enum canned_reply_refusal refusal = CANNED_REPLY_NOT_REFUSED;
    const struct store_canned_reply reply = {
        .id = id, .shortcut = id, .text = "x", .created_at = now, .updated_at = now};
    does(store_insert_canned_reply(store, user_id, &reply, &refusal));
    return refusal;
}

static inline void insert_replies(int twin, int round) {
    enum canned_reply_refusal refusal;
    const struct store_canned_reply change = {
        .id = new_id("rpl_"), .shortcut = text("round %d", round), .updated_at = now};
    (void)twin;
    if (insert_canned(change.id) == CANNED_REPLY_NOT_REFUSED)
        does(store_change_canned_reply(store, user_id, &change, NULL, &refusal));
}

static inline void verify_replies(int rounds) {
    holds(rounds * TWINS < CANNED_REPLIES_MAX ? rounds * TWINS : CANNED_REPLIES_MAX,
          OF_USER("reply"));
    holds(rounds * TWINS < CANNED_REPLIES_MAX ? rounds : (CANNED_REPLIES_MAX + TWINS - 1) / TWINS,
          "SELECT count(*) FROM reply WHERE user_id = '%s' AND shortcut LIKE 'round%%'", user_id);
}

/* One is deleted once. */
static inline void delete_replies(int twin, int round) {
    enum canned_reply_refusal refusal;
    const char *id = text("rpl_%s.%d", user_id, round / 3);
    if (is_phase(round, 0, 3)) {
        if (twin == 0)
            insert_canned(id);
    } else if (is_phase(round, 1, 3)) {
        is_only(may(store_delete_canned_reply(store, user_id, id, NULL, &refusal), STORE_NOT_FOUND),
                "store_delete_canned_reply");
    } else {
        ends_round(twin, "store_delete_canned_reply");
    }
}

/* A link is used once; its session ends in one of several ways. */
static inline void use_links(int twin, int round) {
    const char *link = text("%s.%d", user_id, round / 3);
    struct store_new_session session = session_of(NULL);
    size_t count;
    if (is_phase(round, 0, 3)) {
        if (twin == 0)
            does(store_insert_link(store, email, link_of(link), now));
    } else if (is_phase(round, 1, 3)) {
        is_only(may(store_use_link(store, &scratch, link_of(link), &session), STORE_CONFLICT),
                "store_use_link");
    } else {
        ends_round(twin, "store_use_link");
        if (twin % 2)
            does(store_delete_other_sessions(store, user_id, member_of(user_id), "", &count));
        else
            may(store_delete_session(store, user_id, member_of(user_id), session.id),
                STORE_NOT_FOUND);
    }
}

/* --- members and invitations --- */

static inline enum store_result invite(const char *id, const char *address) {
    const struct store_invitation invitation = {.id = id,
                                                .user_id = user_id,
                                                .email = address,
                                                .role = ROLE_OWNER,
                                                .created_by = "x",
                                                .created_at = now,
                                                .expires_at = now + 1000};
    enum member_refusal refusal;
    return store_insert_invitation(store, &scratch, &invitation, link_of(id), &refusal);
}

/* An invitation is accepted by one new member, or revoked. */
static inline void join(int twin, int round) {
    const char *id = text("inv_%s.%d", user_id, round / 3);
    struct store_new_session session = session_of(fresh_id("usr_"));
    struct store_acceptance acceptance = {
        .member_id = session.member_id, .name = "x", .password = "hash", .now = now};
    enum member_refusal refusal;
    memcpy(acceptance.hash, link_of(id), CRYPTO_HASH_SIZE);
    if (is_phase(round, 0, 3)) {
        if (twin == 0)
            does(invite(id, text("j%d.%s", round / 3, email)));
    } else if (is_phase(round, 1, 3) && twin) {
        is_only(may(store_join(store, &scratch, &acceptance, &session, &refusal), STORE_NOT_FOUND),
                "an invitation");
    } else if (is_phase(round, 1, 3)) {
        is_only(
            may(store_delete_invitation(store, &scratch, WHOLE_VIEW(user_id), id), STORE_NOT_FOUND),
            "an invitation");
    } else {
        ends_round(twin, "an invitation");
    }
}

/* A member of another workspace accepts an invitation once, in a session that shows both. */
static inline void accept_one(int twin, const char *id) {
    const char *session_id = text("ses_%s", id), *member_id = member_of(user_of(0));
    struct store_acceptance acceptance = {
        .member_id = member_id, .session_id = session_id, .now = now};
    enum member_refusal refusal;
    memcpy(acceptance.hash, link_of(id), CRYPTO_HASH_SIZE);
    if (twin == 0)
        does(store_confirm_session(store, user_of(0), session_id, now));
    else if (twin == 1)
        may(store_choose_workspace(store, session_id, member_id, user_id), STORE_NOT_FOUND);
    else
        is_only(
            may(store_accept_invitation(store, &scratch, &acceptance, &refusal), STORE_NOT_FOUND),
            "store_accept_invitation");
}

static inline void accept(int twin, int round) {
    const char *id = text("inv_a%s.%d", user_id, round / 3), *session_id = text("ses_%s", id);
    struct store_new_session session = session_of(user_of(0));
    const struct store_member_change end = {.user_id = user_id, .member_id = session.member_id};
    enum member_refusal refusal;
    session.id = session_id;
    memcpy(session.hash, link_of(session_id), CRYPTO_HASH_SIZE);
    if (is_phase(round, 1, 3)) {
        accept_one(twin, id);
        return;
    }
    if (is_phase(round, 2, 3))
        ends_round(twin, "store_accept_invitation");
    if (twin)
        return;
    if (is_phase(round, 0, 3)) {
        does(store_insert_session(store, &session));
        does(invite(id, email_of(0)));
        return;
    }
    if (ask(text("SELECT count(*) FROM session WHERE id = '%s' AND user_id = '%s'", session_id,
                 user_id)) != 1)
        fault("the session does not show the workspace");
    does(store_remove_member(store, &scratch, &end, &refusal));
}

/* Two owners who lower, remove or add each other, or get a link: one remains. */
static inline void make_owner(const char *address) {
    const struct store_new_member member = {.id = fresh_id("mbr_"),
                                            .user_id = user_id,
                                            .email = address,
                                            .name = "x",
                                            .role = ROLE_OWNER,
                                            .created_by = "x",
                                            .now = now};
    enum member_refusal refusal;
    may(store_add_member(store, &member, &refusal), STORE_CONFLICT);
}

static inline void end_owners(int twin, int round) {
    const char *address = twin % 2 ? email : text("other.%s", email);
    char id[ID_SIZE];
    enum member_refusal refusal;
    if (is_phase(round, 1, 2)) {
        if (twin == 0 && !ask(text("SELECT count(*) FROM membership WHERE user_id = '%s' AND "
                                   "role = 'owner'",
                                   user_id)))
            fault("no owner remains");
        return;
    }
    make_owner(address);
    if (!may(store_find_member(store, address, id), STORE_NOT_FOUND))
        return;
    const struct store_member_change change = {
        .user_id = user_id, .member_id = id, .role = twin < 4 ? ROLE_NONE : ROLE_ADMIN};
    if (twin > 5)
        may(store_insert_reset_link(store, &scratch, &change, link_of(new_id("lnk_")), now + 1,
                                    &refusal),
            STORE_NOT_FOUND);
    else if (twin < 4)
        may(store_remove_member(store, &scratch, &change, &refusal), STORE_NOT_FOUND);
    else
        may(store_change_member(store, &scratch, &change, &refusal), STORE_NOT_FOUND);
}

/* A session that has ended is deleted or renewed. */
static inline void renew(int twin, int round) {
    static char id[ID_SIZE];
    struct store_session seen = {.created_at = now - SESSION_IDLE_MS - 1,
                                 .last_seen_at = now - SESSION_IDLE_MS - 1};
    size_t count;
    seen.id = snprintf(id, ID_SIZE, "ses_%s.%d", user_id, round / 3) > 0 ? id : NULL;
    if (is_phase(round, 0, 3) && twin == 0) {
        struct store_new_session session = session_of(user_id);
        session.id = id;
        session.now = seen.created_at;
        does(store_insert_session(store, &session));
    } else if (is_phase(round, 1, 3) && twin < 2) {
        board->cells[twin] = may(store_renew_session(store, &seen, now), STORE_NOT_FOUND);
    } else if (is_phase(round, 1, 3)) {
        may(store_delete_old_logins(store, now, 500, &count), STORE_BUSY);
    } else if (is_phase(round, 2, 3) && twin == 0) {
        if (ask(text("SELECT count(*) FROM session WHERE id = '%s'", id)) !=
            (board->cells[0] || board->cells[1]))
            fault("a renewed session was deleted");
    }
}

/* --- the second factor: a code is used once --- */

static inline struct store_recovery_codes recovery_codes(void) {
    struct store_recovery_codes codes;
    for (int i = 0; i < RECOVERY_CODES; i++)
        crypto_sha256(slice_of(text("%d", i)), codes.hashes[i]);
    return codes;
}

static inline struct store_session kept_session(void) {
    return (struct store_session){.id = text("ses_%s", user_id), .member_id = member_of(user_id)};
}

static inline void set_factor(void) {
    const struct store_session kept = kept_session();
    const struct store_recovery_codes codes = recovery_codes();
    struct store_factor factor;
    may(store_begin_factor(store, kept.member_id, &any_code, now), STORE_CONFLICT);
    if (may(store_find_factor(store, &scratch, kept.member_id, &factor), STORE_NOT_FOUND))
        may(store_set_factor(store, &kept, user_id, &factor, 1, &codes, now), STORE_CONFLICT);
}

static inline void change_factor(int twin, int round) {
    const struct store_member_change change = {.user_id = user_id, .member_id = member_of(user_id)};
    enum member_refusal refusal;
    (void)round;
    set_factor();
    if (twin % 2)
        does(store_reset_factor(store, &scratch, &change, &refusal));
    else
        may(store_delete_factor(store, user_id, member_of(user_id), NULL), STORE_NOT_FOUND);
}

static inline void verify_factor(int rounds) {
    (void)rounds;
    holds(0, "SELECT count(*) FROM factor WHERE member_id = '%s' AND confirmed_at IS NOT NULL",
          member_of(user_id));
    holds(0, "SELECT count(*) FROM recovery_code WHERE member_id = '%s'", member_of(user_id));
}

static inline void make_factor(void) {
    make_password();
    set_factor();
}

/* One login, which all twins end with one code. */
static inline void end_pending(int round) {
    const struct store_proof proof = {.step = 2 + round};
    struct store_new_session session = session_of(user_id);
    const enum store_result result =
        store_end_pending(store, link_of(text("%s.%d", user_id, round / 3)), &proof, &session);
    is_only(result != STORE_CONFLICT && may(result, STORE_NOT_FOUND), "store_end_pending");
}

static inline void use_code(int twin, int round) {
    struct store_new_session session = session_of(user_id);
    const struct store_recovery_codes codes = recovery_codes();
    enum factor_rule_refusal refusal;
    memcpy(session.hash, link_of(text("%s.%d", user_id, round / 3)), CRYPTO_HASH_SIZE);
    if (is_phase(round, 0, 3) && twin == 0)
        does(store_insert_session(store, &session));
    else if (is_phase(round, 0, 3) && twin == 1)
        does(store_set_factor_rule(store, user_id, member_of(user_id), true, &refusal));
    else if (is_phase(round, 0, 3))
        does(store_replace_recovery_codes(store, user_id, member_of(user_id), &codes));
    else if (is_phase(round, 1, 3))
        end_pending(round);
    else
        ends_round(twin, "store_end_pending");
}

/* --- failed logins --- */

static inline struct store_login login_of(int round) {
    return (struct store_login){.id = new_id("att_"),
                                .subject = text("email:%s.%d", user_id, round),
                                .address = text("address:%s.%d", user_id, round),
                                .now = now};
}

/* Each second round all give wrong codes for the login that twin 0 has begun before. */
static inline void fail_logins(int twin, int round) {
    struct store_new_session session = session_of(user_id);
    struct store_login login = login_of(round);
    int64_t until;
    bool has_ended;
    const unsigned char *hash = link_of(text("%s.%d", user_id, round / 2));
    memcpy(session.hash, hash, CRYPTO_HASH_SIZE);
    if (is_phase(round, 0, 2) && twin == 0)
        does(store_insert_session(store, &session));
    if (is_phase(round, 1, 2))
        login.pending = hash;
    does(store_begin_login(store, &login, &until));
    does(store_fail_login(store, &login, &has_ended));
    if (login.pending && !has_ended)
        atomic_fetch_add(&board->cells[round % CELLS], 1);
}

static inline void verify_failures(int rounds) {
    holds(rounds,
          "SELECT count(*) FROM login_failure WHERE subject LIKE 'email:%s.%%' "
          "AND failures = %d",
          user_id, LOGIN_ACCOUNT_FAILURES);
    holds(rounds,
          "SELECT count(*) FROM login_failure WHERE subject LIKE 'address:%s.%%' "
          "AND failures = %d",
          user_id, TWINS);
    for (int i = 1; i < rounds; i += 2)
        if (board->cells[i % CELLS] != LOGIN_ACCOUNT_FAILURES - 1)
            fault("%d of %d wrong codes did not end the login", board->cells[i % CELLS], TWINS);
}

/* The failures before a right password do not count any more. */
static inline void clear_failures(int twin, int round) {
    struct store_login login = login_of(round / 3);
    int64_t until;
    if (is_phase(round, 0, 3)) {
        does(store_begin_login(store, &login, &until));
    } else if (is_phase(round, 1, 3) && twin == 0) {
        does(store_clear_login_failures(store, &login));
    } else if (is_phase(round, 1, 3) && twin == 1) {
        login.now = now + 20 * 60 * 1000;
        does(store_begin_login(store, &login, &until));
    } else if (is_phase(round, 2, 3) && twin == 0) {
        if (ask(text("SELECT count(*) FROM login_failure WHERE subject = '%s' AND failures > 1",
                     login.subject)))
            fault("failures that were deleted count again");
    }
}

/* --- idempotency keys --- */

static char request_id[ID_SIZE]; /* of the last start_key of this twin */

static inline bool start_key(const char *name, int64_t at) {
    const struct store_idempotency_key key = {.user_id = user_id, .key = name};
    struct store_idempotency found = {.route = "POST /a"};
    const char *own = new_id("req_");
    snprintf(found.request_id, ID_SIZE, "%s", own);
    snprintf(request_id, ID_SIZE, "%s", own);
    if (!does(store_insert_idempotency_key(store, &scratch, &key, at, &found)))
        return false;
    if (found.is_new != (strcmp(found.request_id, own) == 0))
        fault("the key of request %s is new for %s", found.request_id, own);
    return found.is_new;
}

/* One twin starts the key. It ends it, or deletes it at the next round. */
static inline void use_keys(int twin, int round) {
    const char *name = text("key %d", round / 2);
    const struct store_idempotency_key key = {.user_id = user_id, .key = name};
    if (is_phase(round, 1, 2)) {
        ends_round(twin, "starting a key");
        return;
    }
    const bool is_new = start_key(name, now);
    is_only(is_new, "starting a key");
    if (is_new) {
        does(store_update_idempotency_heartbeat(store, &key, request_id, now + 1));
        does(store_update_idempotency_key(store, &key, request_id, (const unsigned char[32]){1},
                                          200, SLICE("{}")));
        does(store_seal_idempotency_key(store, &key, request_id, &any_code));
    }
}

/* A key that is deleted at once can be started again; one that is in use cannot. */
static inline void delete_keys(int twin, int round) {
    const char *name = text("deleted %d", round);
    (void)twin;
    for (int i = 0; i < 4; i++)
        if (start_key(name, now)) {
            if (atomic_exchange(&board->cells[round % CELLS], 1))
                fault("two requests have one key");
            atomic_store(&board->cells[round % CELLS], 0);
            does(store_delete_idempotency_key(
                store, &(struct store_idempotency_key){.user_id = user_id, .key = name},
                request_id));
        }
}

/* A key of the day before is started again, or deleted and started. */
static inline void restart_keys(int twin, int round) {
    const char *name = text("old %d", round / 3);
    size_t removed;
    if (is_phase(round, 0, 3) && twin == 0)
        start_key(name, now - 2 * IDEMPOTENCY_KEPT_MS);
    else if (is_phase(round, 1, 3) && twin < 4)
        may(store_delete_old_rows(store, now, &removed), STORE_BUSY);
    else if (is_phase(round, 1, 3))
        is_only(start_key(name, now), "starting an old key");
    else if (is_phase(round, 2, 3)) {
        ends_round(twin, "starting an old key");
        if (ask(text("SELECT count(*) FROM idempotency WHERE user_id = '%s' AND key = '%s'",
                     user_id, name)) != 1)
            fault("a key that was started is gone");
    }
}

/* --- old rows --- */

enum { OLD_ROWS = 520, OLD_FAILURES = 150 }; /* more than one transaction deletes */

/* Inserts keys and failures. */
static inline void insert_old(int round) {
    change(
        text("INSERT INTO idempotency (user_id, key, route, fingerprint, request_id, created_at) "
             "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
             "SELECT user_id, 'old ' || i, route, fingerprint, request_id, 1 "
             "FROM idempotency, n WHERE user_id = '%s' AND key = 'kept'",
             OLD_ROWS, user_id));
    change(text("INSERT INTO login_failure (subject, failures, attempt_id, blocked_until, "
                "forget_at) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                "WHERE i < %d) SELECT '%s.%d.' || i, 1, '', 0, 1 FROM n",
                OLD_FAILURES, user_id, round));
}

/* Deletes old rows, and counts them in a cell. */
static inline size_t delete_some(void) {
    size_t keys = 0, logins = 0;
    may(store_delete_old_logins(store, now, 100, &logins), STORE_BUSY);
    may(store_delete_old_rows(store, now, &keys), STORE_BUSY);
    atomic_fetch_add(&board->cells[1], (int)(keys + logins));
    return keys + logins;
}

/* Deletes what other cases left. */
static inline void make_key(void) {
    start_key("kept", now);
    while (delete_some())
        ;
    board->cells[1] = 0;
}

/* One courier does the work, the others do not wait for it; what the calls deleted is the sum. */
static inline void delete_old(int twin, int round) {
    if (is_phase(round, 0, 3) && twin == 0) {
        insert_old(round);
    } else if (is_phase(round, 1, 3)) {
        delete_some();
    } else if (is_phase(round, 2, 3) && twin == 0) {
        while (delete_some())
            ;
        if (atomic_exchange(&board->cells[1], 0) != OLD_ROWS + OLD_FAILURES)
            fault("the calls deleted another number of rows than there were");
    }
}

/* Waits until the cell has the value; whether it does within some seconds. */
static inline bool reaches(int cell, int value) {
    for (int i = 0; i < 5000 && board->cells[cell] < value; i++)
        usleep(1000);
    return board->cells[cell] >= value;
}

/* While one process has the lock of the regular work, the others do not wait for it. A file has no
 * such lock. */
static inline void leave_chores(int twin, int round) {
    size_t removed;
    if (*database == '/' || (is_phase(round, 0, 2) && twin > 0) || twin > 2)
        return;
    if (is_phase(round, 0, 2)) {
        if (round == 0)
            insert_old(round); /* nothing deletes them */
        board->cells[2] = board->cells[3] = 0;
    } else if (twin == 0) {
        while (sql_transact(store)) {
            if (!sql_try_lock(store, LOCK_CHORES, NULL, NULL, 0))
                fault("the lock of the regular work is not free");
            board->cells[2] = 1;
            if (!reaches(3, 2))
                fault("a process waits for the regular work of another");
        }
        does(sql_result(store));
    } else if (!reaches(2, 1)) {
        fault("the lock of the regular work was not taken");
    } else {
        const enum store_result result = twin == 1
                                             ? store_delete_old_rows(store, now, &removed)
                                             : store_delete_old_logins(store, now, 100, &removed);
        atomic_fetch_add(&board->cells[3], 1);
        if (result != STORE_BUSY || removed)
            fault("result %d, %zu rows, while another process did the work", (int)result, removed);
    }
}

/* --- refused payloads and heartbeats --- */

static inline void refuse(int twin, int round) {
    const char *body = text("payload %d", round);
    does(store_upsert_refusal(store, new_id("ref_"), "too large", -1, slice_of(body), now + twin));
    may(store_delete_refusal(store, "ref_none"), STORE_NOT_FOUND);
    const struct store_heartbeat beat = {
        .name = "twin", .host = "host", .pid = 100 + twin, .at = now, .keys = ""};
    size_t removed;
    does(store_upsert_heartbeat(store, &beat));
    does(store_end_heartbeat(store, &beat));
    does(store_delete_heartbeats(store, now, &removed));
}

static inline void verify_refusals(int rounds) {
    holds(rounds, "SELECT count(*) FROM webhook_refusal WHERE count = %d", TWINS);
    holds(rounds, "SELECT count(*) FROM webhook_refusal");
    holds(1, "SELECT count(*) FROM heartbeat WHERE name = 'twin'");
}

/* --- the trail --- */

static inline void leave_trail(int twin, int round) {
    struct store_deed deed = {.actor = "twin",
                              .actor_name = text("%d.%d", round, twin),
                              .address = "",
                              .request_id = "",
                              .now = now,
                              .action = "twin.act",
                              .details = "{}"};
    size_t removed;
    snprintf(deed.id, sizeof deed.id, "%s", new_id("trl_"));
    store_begin_deed(&deed);
    does(store_leave_trail(store, user_id, NULL));
    does(store_leave_trail(store, user_id, NULL)); /* a repetition leaves no second row */
    store_begin_deed(NULL);
    may(store_delete_old_trail(store, 1, &removed), STORE_BUSY);
}

static inline void verify_trail(int rounds) {
    holds(rounds * TWINS, "SELECT count(*) FROM trail WHERE action = 'twin.act'");
}

#endif
