#include "store/logins.h"

#include "engine/row.h"
#include "store/chore.h"
#include "store/deed.h"
#include "store/login/pending_login.h"
#include "store/member.h"

#define MINUTES (60 * INT64_C(1000))

/* --- limits --- */

struct failures {
    int64_t count, blocked_until, forget_at;
    bool is_counted; /* the attempt was counted already */
};

/* Whether failures count until then. A time that is farther away than any that is written comes
 * from a clock that was ahead; the clocks of several hosts differ by less than an hour. */
static bool do_count(int64_t forget_at, int64_t now) {
    return forget_at > now && forget_at <= now + 2 * LOGIN_FORGET_MS;
}

/* Reads the failures of a subject; none when they do not count any more. */
static bool read_failures(struct store *store, const char *subject,
                          const struct store_login *attempt, struct failures *failures) {
    static struct statement s = {
        .sql = "SELECT failures, blocked_until, forget_at, attempt_id = ?2 FROM login_failure "
               "WHERE subject = ?1"};
    *failures = (struct failures){0};
    sql_start(store, &s, TEXT(subject), TEXT(attempt->id));
    if (sql_row(store, &s)) {
        if (do_count(column_integer(&s, 2), attempt->now))
            *failures = (struct failures){
                .count = column_integer(&s, 0),
                .blocked_until = column_integer(&s, 1),
                .forget_at = column_integer(&s, 2),
                .is_counted = column_integer(&s, 3) != 0,
            };
        sql_stop(&s);
    }
    return !sql_failed(store);
}

static bool write_failures(struct store *store, const char *subject,
                           const struct store_login *attempt, const struct failures *failures) {
    static struct statement s = {
        .sql = "INSERT INTO login_failure (subject, failures, attempt_id, blocked_until, "
               "forget_at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (subject) DO UPDATE SET "
               "failures = excluded.failures, attempt_id = excluded.attempt_id, "
               "blocked_until = excluded.blocked_until, forget_at = excluded.forget_at"};
    return sql_run(store, &s, TEXT(subject), INTEGER(failures->count), TEXT(attempt->id),
                   INTEGER(failures->blocked_until), INTEGER(failures->forget_at));
}

static bool is_blocked(const struct failures *failures, const struct store_login *attempt) {
    return failures->blocked_until > attempt->now && !failures->is_counted;
}

/* Counts a failure of the subject, and blocks it. */
static bool count_subject(struct store *store, const struct store_login *attempt,
                          struct failures *failures) {
    static const int minutes[] = {1, 2, 4, 8, 15};
    enum { STEPS = sizeof minutes / sizeof *minutes };
    if (failures->is_counted)
        return true;
    int64_t step = ++failures->count - LOGIN_ACCOUNT_FAILURES;
    if (step >= 0)
        failures->blocked_until = attempt->now + minutes[step < STEPS ? step : STEPS - 1] * MINUTES;
    failures->forget_at = attempt->now + LOGIN_FORGET_MS;
    return write_failures(store, attempt->subject, attempt, failures);
}

enum store_result store_begin_login(struct store *store, const struct store_login *attempt,
                                    int64_t *blocked_until) {
    const char *const subjects[] = {attempt->subject, attempt->address};
    while (sql_transact(store)) {
        struct failures subject = {0}, address = {0};
        *blocked_until = 0;
        sql_lock(store, LOCK_LOGIN, NULL, subjects, 2);
        if ((attempt->address && !read_failures(store, attempt->address, attempt, &address)) ||
            (attempt->subject && !read_failures(store, attempt->subject, attempt, &subject)))
            continue;
        if (is_blocked(&subject, attempt))
            *blocked_until = subject.blocked_until;
        if (is_blocked(&address, attempt) && address.blocked_until > *blocked_until)
            *blocked_until = address.blocked_until;
        if (!*blocked_until && attempt->subject)
            count_subject(store, attempt, &subject);
    }
    return sql_result(store);
}

/* Counts a failure of the address, and blocks it. */
static void count_address(struct store *store, const struct store_login *attempt) {
    struct failures address;
    sql_lock(store, LOCK_LOGIN, NULL, &attempt->address, 1);
    if (!read_failures(store, attempt->address, attempt, &address) || address.is_counted)
        return;
    if (!address.count++)
        address.forget_at = attempt->now + LOGIN_ADDRESS_MS;
    if (address.count >= LOGIN_ADDRESS_FAILURES)
        address.blocked_until = address.forget_at;
    write_failures(store, attempt->address, attempt, &address);
}

enum store_result store_fail_login(struct store *store, const struct store_login *attempt,
                                   bool *has_ended) {
    *has_ended = false;
    if (!attempt->address && !attempt->pending && !attempt->user_id)
        return STORE_OK;
    while (sql_transact(store)) {
        if (attempt->address)
            count_address(store, attempt);
        if (attempt->pending)
            pending_fail(store, attempt->pending, attempt->id, has_ended);
        if (attempt->user_id)
            store_trail(store, attempt->user_id, attempt->member_id);
    }
    return sql_result(store);
}

enum store_result store_clear_login_failures(struct store *store,
                                             const struct store_login *attempt) {
    static struct statement s = {.sql = "DELETE FROM login_failure WHERE subject = ?1"};
    while (sql_transact(store)) {
        sql_lock(store, LOCK_LOGIN, NULL, &attempt->subject, 1);
        sql_run(store, &s, TEXT(attempt->subject));
    }
    return sql_result(store);
}

enum store_result store_find_device(struct store *store, const char *member_id,
                                    const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now,
                                    bool *is_known) {
    static struct statement s = {.sql = "SELECT member_id FROM login_device WHERE member_id = ?1 "
                                        "AND hash = ?2 AND expires_at > ?3"};
    sql_start(store, &s, TEXT(member_id), HASH(hash), INTEGER(now));
    *is_known = row_exists(store, &s);
    return sql_result(store);
}

/* --- passwords --- */

enum store_result store_find_login(struct store *store, struct arena *arena, const char *email,
                                   const char **member_id, const char **user_id,
                                   const char **hash) {
    static struct statement s = {
        .sql = "SELECT m.id, m.password, (SELECT user_id FROM membership WHERE member_id = m.id "
               "ORDER BY created_at, user_id LIMIT 1) FROM member m WHERE m.email = ?1"};
    *member_id = *user_id = *hash = NULL;
    sql_start(store, &s, TEXT(email));
    bool found = sql_row(store, &s);
    if (found) {
        *member_id = column_text(&s, 0, arena);
        *hash = column_text(&s, 1, arena);
        *user_id = column_text(&s, 2, arena);
        sql_stop(&s);
    }
    return sql_found(store, found);
}

enum store_result store_find_password(struct store *store, struct arena *arena,
                                      const char *member_id, const char **hash) {
    static struct statement s = {.sql = "SELECT password FROM member WHERE id = ?1"};
    sql_start(store, &s, TEXT(member_id));
    *hash = row_text(store, &s, arena);
    return sql_result(store);
}

enum store_result store_rehash_password(struct store *store, const char *member_id, const char *old,
                                        const char *hash) {
    static struct statement s = {
        .sql = "UPDATE member SET password = ?3 WHERE id = ?1 AND password = ?2"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(member_id), TEXT(old), TEXT(hash));
    return sql_result(store);
}

/* --- sessions --- */

/* Locks the member until the transaction ends, and finds the workspace of the longest time, which
 * each member has. */
static bool lock_member(struct store *store, const char *member_id, char user_id[ID_SIZE]) {
    sql_lock(store, LOCK_USER, NULL, &member_id, 1);
    return member_workspace(store, member_id, user_id);
}

/* When a session expires that began at `created_at` and is seen at `now`. */
static int64_t expiry(int64_t created_at, int64_t now) {
    int64_t idle = now + SESSION_IDLE_MS, longest = created_at + SESSION_LONGEST_MS;
    return idle < longest ? idle : longest;
}

/* Keeps the browser of the login. */
static bool insert_device(struct store *store, const struct store_new_session *session) {
    static struct statement add = {
        .sql = "INSERT INTO login_device (member_id, hash, expires_at) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (member_id, hash) DO UPDATE SET expires_at = excluded.expires_at"};
    static struct statement remove = {
        .sql = "DELETE FROM login_device WHERE member_id = ?1 AND hash IN (SELECT hash FROM "
               "login_device WHERE member_id = ?1 ORDER BY expires_at DESC, hash DESC LIMIT 10 "
               "OFFSET ?2)"};
    return sql_run(store, &add, TEXT(session->member_id), HASH(session->device),
                   INTEGER(session->now + DEVICE_MS)) &&
           sql_run(store, &remove, TEXT(session->member_id), INTEGER(DEVICES_MAX));
}

bool login_insert_session(struct store *store, const struct store_new_session *session,
                          const char *user_id) {
    static struct statement replace = {.sql = "DELETE FROM session WHERE hash = ?1"};
    static struct statement add = {
        .sql = "INSERT INTO session (id, member_id, user_id, hash, is_by_link, address, agent, "
               "created_at, confirmed_at, last_seen_at, expires_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?8, ?9) ON CONFLICT (id) DO NOTHING"};
    static struct statement remove = {
        .sql = "DELETE FROM session WHERE member_id = ?1 AND (created_at, id) < ("
               "SELECT created_at, id FROM session WHERE member_id = ?1 "
               "ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?2)"};
    return (!session->replaced || sql_run(store, &replace, HASH(session->replaced))) &&
           (!session->device || insert_device(store, session)) &&
           sql_run(store, &add, TEXT(session->id), TEXT(session->member_id), TEXT(user_id),
                   HASH(session->hash), INTEGER(session->is_by_link), TEXT(session->address),
                   TEXT(session->agent), INTEGER(session->now),
                   INTEGER(expiry(session->now, session->now))) &&
           sql_run(store, &remove, TEXT(session->member_id), INTEGER(SESSIONS_MAX - 1));
}

static bool has_password(struct store *store, const char *member_id, const char *hash) {
    static struct statement s = {.sql = "SELECT id FROM member WHERE id = ?1 AND password = ?2"};
    sql_start(store, &s, TEXT(member_id), TEXT(hash));
    return row_exists(store, &s);
}

/* Inserts the session, or the login that waits for the second factor of its member. */
static bool begin_session(struct store *store, struct store_new_session *session,
                          const char *user_id) {
    session->is_pending = factor_is_set(store, session->member_id);
    if (session->is_pending)
        return pending_insert(store, session->member_id, session->hash, session->is_by_link,
                              session->now + PENDING_MS) &&
               store_trail_as(store, user_id, session->member_id, "session.begin");
    return login_insert_session(store, session, user_id) &&
           store_trail(store, user_id, session->id);
}

enum store_result store_insert_session(struct store *store, struct store_new_session *session) {
    char user_id[ID_SIZE];
    bool found = false;
    while (sql_transact(store)) {
        found = lock_member(store, session->member_id, user_id) &&
                has_password(store, session->member_id, session->password);
        if (found)
            begin_session(store, session, user_id);
    }
    return sql_found(store, found);
}

/* A link cannot be used any more. It is kept, so that its use is not a failed login. */
static bool end_link(struct store *store, const char *member_id, int64_t now) {
    static struct statement s = {.sql = "UPDATE login_link SET used_at = ?2 WHERE member_id = ?1 "
                                        "AND used_at IS NULL"};
    return sql_run(store, &s, TEXT(member_id), INTEGER(now));
}

/* The workspace of the new session, if the member still belongs to it. */
static const char *workspace_of(struct store *store, const struct store_new_session *session,
                                const char *preset) {
    const char *wanted = session ? session->user_id : NULL;
    return wanted && member_role(store, wanted, session->member_id) != ROLE_NONE ? wanted : preset;
}

enum store_result store_set_password(struct store *store, const char *member_id, const char *hash,
                                     const struct store_new_session *session, int64_t now) {
    static struct statement set = {.sql = "UPDATE member SET password = ?2 WHERE id = ?1"};
    static struct statement end = {.sql = "DELETE FROM session WHERE member_id = ?1"};
    char first[ID_SIZE];
    bool found = false;
    while (sql_transact(store)) {
        found = lock_member(store, member_id, first);
        const char *user_id = found ? workspace_of(store, session, first) : NULL;
        if (found && sql_run(store, &set, TEXT(member_id), TEXT(hash)) &&
            sql_run(store, &end, TEXT(member_id)) && end_link(store, member_id, now) &&
            pending_end_all(store, member_id) && store_trail(store, user_id, member_id) && session)
            login_insert_session(store, session, user_id);
    }
    return sql_found(store, found);
}

enum store_result store_insert_link(struct store *store, const char *email,
                                    const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now) {
    static struct statement find = {.sql = "SELECT id FROM member WHERE email = ?1"};
    char member_id[ID_SIZE], user_id[ID_SIZE];
    bool found = false;
    while (sql_transact(store)) {
        sql_start(store, &find, TEXT(email));
        found = sql_read_id(store, &find, member_id) && lock_member(store, member_id, user_id);
        if (found && member_set_link(store, member_id, hash, now + LINK_MS))
            store_trail(store, user_id, member_id);
    }
    return sql_found(store, found);
}

/* Finds the member of the link, and says in the trail that the member acts. */
static const char *find_link(struct store *store, struct arena *arena,
                             const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now) {
    static struct statement s = {
        .sql = "SELECT m.id, m.name FROM login_link l JOIN member m ON m.id = l.member_id "
               "WHERE l.hash = ?1 AND l.expires_at > ?2"};
    sql_start(store, &s, HASH(hash), INTEGER(now));
    if (!sql_row(store, &s))
        return NULL;
    const char *member_id = column_text(&s, 0, arena);
    store_name_actor(member_id, column_text(&s, 1, arena));
    sql_stop(&s);
    return member_id;
}

/* Uses the link, unless it was used before or replaced. */
static bool take_link(struct store *store, const char *member_id,
                      const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now) {
    static struct statement s = {.sql = "UPDATE login_link SET used_at = ?3 WHERE member_id = ?1 "
                                        "AND hash = ?2 AND used_at IS NULL"};
    return row_write(store, &s, TEXT(member_id), HASH(hash), INTEGER(now));
}

/* Whether the login is there, as a session or as one that waits. */
static bool has_login(struct store *store, const struct store_new_session *session) {
    static struct statement s = {.sql = "SELECT id FROM session WHERE hash = ?1 UNION ALL "
                                        "SELECT member_id FROM pending_login WHERE hash = ?1"};
    sql_start(store, &s, HASH(session->hash));
    return row_exists(store, &s);
}

enum store_result store_use_link(struct store *store, struct arena *arena,
                                 const unsigned char hash[CRYPTO_HASH_SIZE],
                                 struct store_new_session *session) {
    char user_id[ID_SIZE];
    bool found = false;
    session->member_id = NULL;
    while (sql_transact(store)) {
        if (sql_may_have_committed(store) && has_login(store, session))
            continue;
        session->member_id = find_link(store, arena, hash, session->now);
        found = session->member_id && lock_member(store, session->member_id, user_id) &&
                take_link(store, session->member_id, hash, session->now);
        if (found)
            begin_session(store, session, user_id);
    }
    return row_allowed(store, found || session->member_id, found);
}

enum store_result store_confirm_session(struct store *store, const char *user_id, const char *id,
                                        int64_t now) {
    static struct statement s = {.sql = "UPDATE session SET confirmed_at = ?2 WHERE id = ?1"};
    bool found = false;
    while (sql_transact(store))
        found = row_write(store, &s, TEXT(id), INTEGER(now)) && store_trail(store, user_id, id);
    return sql_found(store, found);
}

enum store_result store_choose_workspace(struct store *store, const char *id, const char *member_id,
                                         const char *user_id) {
    static struct statement s = {
        .sql = "UPDATE session SET user_id = ?3 WHERE id = ?1 AND EXISTS "
               "(SELECT 1 FROM membership WHERE user_id = ?3 AND member_id = ?2)"};
    bool found = false;
    while (sql_transact(store))
        found = row_write(store, &s, TEXT(id), TEXT(member_id), TEXT(user_id));
    return sql_found(store, found);
}

#define OF(member) ROW_MEMBER(struct store_session_entry, member)
static const struct row_layout entry_layout = ROW_LAYOUT(
    struct store_session_entry, OF(session.id), OF(session.created_at), OF(session.last_seen_at),
    OF(session.expires_at), OF(session.is_by_link), OF(address), OF(agent));

enum store_result store_list_sessions(struct store *store, struct arena *arena,
                                      const char *member_id, int64_t now,
                                      struct store_session_entry **sessions, size_t *count) {
    static struct statement s = {
        .sql = "SELECT id, created_at, last_seen_at, expires_at, is_by_link, address, agent "
               "FROM session WHERE member_id = ?1 AND expires_at > ?2 "
               "ORDER BY created_at DESC, id DESC"};
    sql_start(store, &s, TEXT(member_id), INTEGER(now));
    *sessions = row_list(store, &s, arena, &entry_layout, count);
    return sql_result(store);
}

enum store_result store_renew_session(struct store *store, struct store_session *session,
                                      int64_t now) {
    static struct statement s = {
        .sql = "UPDATE session SET last_seen_at = ?2, expires_at = ?3 WHERE id = ?1"};
    if (now - session->last_seen_at < SESSION_RENEWAL_MS)
        return STORE_OK;
    session->last_seen_at = now;
    session->expires_at = expiry(session->created_at, now);
    bool found = false;
    while (sql_transact(store))
        found = row_write(store, &s, TEXT(session->id), INTEGER(now), INTEGER(session->expires_at));
    return sql_found(store, found);
}

enum store_result store_delete_session(struct store *store, const char *user_id,
                                       const char *member_id, const char *id) {
    static struct statement s = {.sql = "DELETE FROM session WHERE id = ?2 AND member_id = ?1"};
    bool found = false;
    while (sql_transact(store)) {
        found = row_write(store, &s, TEXT(member_id), TEXT(id)) ||
                (found && sql_may_have_committed(store));
        if (found)
            store_trail(store, user_id, id);
    }
    return sql_found(store, found);
}

enum store_result store_delete_other_sessions(struct store *store, const char *user_id,
                                              const char *member_id, const char *kept,
                                              size_t *count) {
    static struct statement s = {.sql = "DELETE FROM session WHERE member_id = ?1 AND id <> ?2"};
    *count = 0;
    while (sql_transact(store)) {
        if (sql_run(store, &s, TEXT(member_id), TEXT(kept)) &&
            (sql_changes(store) > 0 || !sql_may_have_committed(store)))
            *count = (size_t)sql_changes(store);
        store_trail(store, user_id, kept);
    }
    return sql_result(store);
}

/* --- old rows --- */

enum store_result store_delete_old_logins(struct store *store, int64_t now, int64_t most,
                                          size_t *removed) {
    static struct statement find = {
        .sql = "SELECT 1 WHERE (SELECT min(expires_at) FROM session) <= ?1 "
               "OR (SELECT min(expires_at) FROM login_link) <= ?1 "
               "OR (SELECT min(expires_at) FROM invitation) <= ?1 "
               "OR (SELECT min(expires_at) FROM login_device) <= ?1 "
               "OR (SELECT min(expires_at) FROM pending_login) <= ?1 "
               "OR (SELECT min(forget_at) FROM login_failure) <= ?1"};
    static struct statement old[] = {
        /* the first condition holds for a row that another transaction renewed meanwhile too */
        {.sql = "DELETE FROM session WHERE expires_at <= ?1 AND id IN (SELECT id FROM session "
                "WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"},
        {.sql = "DELETE FROM invitation WHERE expires_at <= ?1 AND id IN (SELECT id "
                "FROM invitation WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"},
        {.sql = "DELETE FROM login_link WHERE expires_at <= ?1 AND member_id IN (SELECT member_id "
                "FROM login_link WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"},
        {.sql = "DELETE FROM login_device WHERE expires_at <= ?1 AND (member_id, hash) IN (SELECT "
                "member_id, hash FROM login_device WHERE expires_at <= ?1 ORDER BY expires_at "
                "LIMIT ?2)"},
        {.sql = "DELETE FROM pending_login WHERE expires_at <= ?1 AND hash IN (SELECT hash "
                "FROM pending_login WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"},
        {.sql = "DELETE FROM login_failure WHERE forget_at <= ?1 AND subject IN (SELECT subject "
                "FROM login_failure WHERE forget_at <= ?1 ORDER BY forget_at LIMIT ?2)"},
    };
    *removed = 0;
    sql_start(store, &find, INTEGER(now));
    if (!row_exists(store, &find))
        return sql_result(store); /* without taking the write lock */
    bool is_free = false;
    while (sql_transact(store)) {
        *removed = 0;
        if (!chore_take(store, &is_free))
            continue;
        for (size_t i = 0; i < sizeof old / sizeof *old && !sql_failed(store); i++)
            if (sql_run(store, &old[i], INTEGER(now), INTEGER(most)))
                *removed += (size_t)sql_changes(store);
    }
    return chore_result(store, is_free);
}
