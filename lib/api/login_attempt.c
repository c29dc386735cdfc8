/* For which a wrong password or code counts, and which therefore block the next attempt:
 *
 *     a confirmation within a session                      the session
 *     a browser in which the member has logged in before     the browser
 *     any other                                            the account, and the client
 *
 * Those of codes of a second factor count apart from those of passwords.
 *
 * After a success those of the session, the browser or the account are deleted.
 */
#include "api/login_attempt.h"

#include <arpa/inet.h>

#include "api/request_trail.h"
#include "api/session_cookie.h"
#include "api/state.h"

enum { NETWORK_BYTES = 8 /* of an IPv6 address: a client has all addresses of its /64 */ };

/* --- the client --- */

/* The network of the client: an IPv4 address, or the first 64 bits of an IPv6 address. */
static const char *network(struct request *rq) {
    const char *address = request_client(rq);
    char text[INET6_ADDRSTRLEN];
    struct in6_addr bytes;
    if (inet_pton(AF_INET6, address, &bytes) != 1)
        return arena_printf(rq->arena, "address:%s", address);
    memset(bytes.s6_addr + NETWORK_BYTES, 0, sizeof bytes.s6_addr - NETWORK_BYTES);
    inet_ntop(AF_INET6, &bytes, text, sizeof text);
    return arena_printf(rq->arena, "address:%s/64", text);
}

/* --- attempts --- */

struct store_login login_start(struct request *rq) {
    char *id = arena_alloc(rq->arena, ID_SIZE);
    id_make(id, "att_", rq->now);
    return (struct store_login){.id = id, .address = network(rq), .now = rq->now};
}

static const char *subject(struct request *rq, const char *kind, struct slice value) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256(value, hash);
    return arena_printf(rq->arena, "%s:%s", kind, crypto_hex(rq->arena, hash, sizeof hash));
}

/* Sets whether the member has logged in before in this browser. */
static enum store_result find_device(struct request *rq, struct store *store, const char *member_id,
                                     bool *is_known) {
    const struct slice cookie = device_cookie();
    unsigned char hash[CRYPTO_HASH_SIZE];
    *is_known = false;
    if (!cookie.p || !member_id)
        return STORE_OK;
    crypto_sha256(cookie, hash);
    return store_find_device(store, member_id, hash, rq->now, is_known);
}

enum store_result login_count_for(struct request *rq, struct store *store,
                                  const struct login *login, struct store_login *attempt) {
    bool is_known = false;
    enum store_result result =
        login->session_id ? STORE_OK : find_device(rq, store, login->member_id, &is_known);
    if (login->session_id)
        attempt->subject = arena_printf(rq->arena, "session:%s", login->session_id);
    else if (is_known)
        attempt->subject = arena_printf(rq->arena, "%s:%s", subject(rq, "device", device_cookie()),
                                        login->member_id);
    else
        attempt->subject = subject(rq, "email", slice_of(login->email));
    if (login->is_of_factor)
        attempt->subject = arena_printf(rq->arena, "factor:%s", attempt->subject);
    if (login->session_id || is_known)
        attempt->address = NULL;
    return result;
}

/* The line of the request in the log then has the address, for programs such as fail2ban. */
static void log_failure(struct request *rq) {
    json_write_text(&rq->log, "login_failed_from", request_client(rq));
}

static int fail_blocked(struct request *rq, int64_t blocked_until) {
    long long seconds = (long long)(blocked_until - rq->now + 999) / 1000;
    log_failure(rq);
    reply_header(rq, "Retry-After", arena_printf(rq->arena, "%lld", seconds));
    return fail(rq, RATE_LIMITED,
                "Too many failed logins: try again in %lld seconds. Until then the right password "
                "is refused too.",
                seconds);
}

int login_begin(struct request *rq, struct store *store, const struct store_login *attempt) {
    int64_t blocked_until;
    enum store_result result = store_begin_login(store, attempt, &blocked_until);
    if (result != STORE_OK)
        return state_fail(rq, result);
    return blocked_until ? fail_blocked(rq, blocked_until) : 0;
}

int login_fail_ended(struct request *rq) {
    return fail_with_details(rq, UNAUTHORIZED, SLICE("{\"required\":\"login\"}"),
                             "The login has ended, after 5 minutes or 5 wrong codes: begin it "
                             "again by POST /v2/session.");
}

int login_fail(struct request *rq, struct store *store, const struct store_login *attempt,
               enum failure_code code, const char *message) {
    rq->trail = "session.refused";
    trail_begin(rq, "unknown", "not logged in");
    bool has_ended;
    enum store_result result = store_fail_login(store, attempt, &has_ended);
    log_failure(rq);
    if (result == STORE_OK && has_ended)
        return login_fail_ended(rq);
    return result == STORE_OK ? fail(rq, code, "%s", message) : state_fail(rq, result);
}

int login_check_client(struct request *rq, struct store *store) {
    const struct store_login attempt = login_start(rq);
    return login_begin(rq, store, &attempt);
}

int login_refuse_client(struct request *rq, struct store *store, const char *message) {
    const struct store_login attempt = login_start(rq);
    return login_fail(rq, store, &attempt, UNAUTHORIZED, message);
}
