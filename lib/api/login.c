/* For which a wrong password counts, and which therefore block the next attempt:
 *
 *     a confirmation within a session                      the session
 *     a browser in which the member has logged in before     the browser
 *     any other                                            the account, and the client
 *
 * After a success those of the session, the browser or the account are deleted.
 */
#include "api/login.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/client.h"
#include "api/request_trail.h"
#include "api/session_cookie.h"
#include "api/state.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/password.h"
#include "base/target.h"

enum {
    TURNS = 2, /* hashes at the same time: each takes a processor and 19 MiB */
    TURN_WAIT_MS = 1000,
    TURN_POLL_MS = 10,
    NETWORK_BYTES = 8, /* of an IPv6 address: a client has all addresses of its /64 */
};

/* --- turns --- */

static int locks[TURNS] = {-1, -1};
static int taken = -1; /* the index of the turn that this process has; -1: none */

/* The locks are files beside the database, which all processes of this machine share. */
static int open_lock(struct request *rq, int number) {
    enum { MODE = 0660 };
    const char *database = target_file(rq->config->database);
    const char *path = database
                           ? arena_printf(rq->arena, "%s-login-%d", database, number)
                           : arena_printf(rq->arena, "%s/login-%d", rq->config->spool_dir, number);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, MODE);
    if (fd >= 0)
        fchmod(fd, MODE); /* the umask may have cleared bits; fails for a file of another user */
    else
        log_message(LOG_ERROR, "cannot open %s: %s", path, strerror(errno));
    return fd;
}

void login_prepare(struct request *rq) {
    for (int i = 0; i < TURNS; i++)
        locks[i] = open_lock(rq, i + 1);
}

/* A lock of the open file, so that it ends with the process, and no other process of it. */
static bool set_lock(int fd, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

static bool try_turn(void) {
    for (int i = 0; i < TURNS && taken < 0; i++)
        if (set_lock(locks[i], F_WRLCK))
            taken = i;
    return taken >= 0;
}

int login_take_turn(struct request *rq) {
    if (locks[0] < 0 || locks[1] < 0)
        return fail(rq, INTERNAL,
                    "The gateway cannot open the lock files of logins; its log says why.");
    request_release(rq);
    int64_t began = clock_monotonic();
    while (!try_turn()) {
        if (clock_monotonic() - began >= TURN_WAIT_MS) {
            reply_header(rq, "Retry-After", "1");
            return fail(rq, RATE_LIMITED,
                        "Too many logins at the same time; try again in a second.");
        }
        nanosleep(&(struct timespec){.tv_nsec = TURN_POLL_MS * 1000 * 1000}, NULL);
    }
    return 0;
}

void login_end_turn(void) {
    if (taken >= 0)
        set_lock(locks[taken], F_UNLCK);
    taken = -1;
}

/* --- the client --- */

/* The network of the client: an IPv4 address, or the first 64 bits of an IPv6 address. */
static const char *network(struct request *rq) {
    const char *address = client_address(rq);
    char text[INET6_ADDRSTRLEN];
    struct in6_addr bytes;
    if (inet_pton(AF_INET6, address, &bytes) != 1)
        return arena_printf(rq->arena, "address:%s", address);
    memset(bytes.s6_addr + NETWORK_BYTES, 0, sizeof bytes.s6_addr - NETWORK_BYTES);
    inet_ntop(AF_INET6, &bytes, text, sizeof text);
    return arena_printf(rq->arena, "address:%s/64", text);
}

/* --- attempts --- */

static struct store_login start_attempt(struct request *rq) {
    char *id = arena_alloc(rq->arena, ID_SIZE);
    id_make(id, "att_", rq->now);
    return (struct store_login){.id = id, .address = network(rq), .now = rq->now};
}

static const char *subject(struct request *rq, const char *kind, struct slice value) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256(value, hash);
    return arena_printf(rq->arena, "%s:%s", kind, crypto_hex(rq->arena, hash, sizeof hash));
}

/* Sets whose failures the attempt counts for: others cannot block a session, nor a browser in which
 * the member has logged in before. */
static enum store_result choose_subject(struct request *rq, struct store *store,
                                        const struct login *login, struct store_login *attempt) {
    const struct slice cookie = device_cookie();
    unsigned char hash[CRYPTO_HASH_SIZE];
    bool is_known = false;
    enum store_result result = STORE_OK;
    if (cookie.p && login->member_id && !login->session_id) {
        crypto_sha256(cookie, hash);
        result = store_find_device(store, login->member_id, hash, rq->now, &is_known);
    }
    if (login->session_id)
        attempt->subject = arena_printf(rq->arena, "session:%s", login->session_id);
    else if (is_known)
        attempt->subject =
            arena_printf(rq->arena, "%s:%s", subject(rq, "device", cookie), login->member_id);
    else
        attempt->subject = subject(rq, "email", slice_of(login->email));
    if (login->session_id || is_known)
        attempt->address = NULL;
    return result;
}

/* The line of the request in the log then has the address, for programs such as fail2ban. */
static void log_failure(struct request *rq) {
    json_write_text(&rq->log, "login_failed_from", client_address(rq));
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

static int begin(struct request *rq, struct store *store, const struct store_login *attempt) {
    int64_t blocked_until;
    enum store_result result = store_begin_login(store, attempt, &blocked_until);
    if (result != STORE_OK)
        return state_fail(rq, result);
    return blocked_until ? fail_blocked(rq, blocked_until) : 0;
}

static int fail_login(struct request *rq, struct store *store, const struct store_login *attempt,
                      enum failure_code code, const char *message) {
    rq->trail = "session.refused";
    trail_begin(rq, "unknown", "not logged in");
    enum store_result result = store_fail_login(store, attempt);
    log_failure(rq);
    return result == STORE_OK ? fail(rq, code, "%s", message) : state_fail(rq, result);
}

/* Replaces a hash with other parameters. */
static enum store_result renew_hash(struct request *rq, struct store *store, struct login *login,
                                    struct slice password) {
    const char *old = login->password;
    char hash[PASSWORD_HASH_SIZE];
    if (!password_is_outdated(old) || !password_hash(password, hash))
        return STORE_OK;
    login->password = arena_copy(rq->arena, slice_of(hash));
    return store_rehash_password(store, login->member_id, old, hash);
}

int login_check(struct request *rq, struct store *store, struct login *login, struct slice password,
                enum failure_code code, const char *message) {
    struct store_login attempt = start_attempt(rq);
    enum store_result result = store_find_login(store, rq->arena, login->email, &login->member_id,
                                                &login->user_id, &login->password);
    if (result == STORE_OK || result == STORE_NOT_FOUND)
        result = choose_subject(rq, store, login, &attempt);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (begin(rq, store, &attempt))
        return -1;
    if (!password_matches(password, login->password)) {
        attempt.user_id = login->user_id;
        attempt.member_id = login->member_id;
        return fail_login(rq, store, &attempt, code, message);
    }
    result = renew_hash(rq, store, login, password);
    if (result == STORE_OK)
        result = store_clear_login_failures(store, &attempt);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

int login_check_client(struct request *rq, struct store *store) {
    const struct store_login attempt = start_attempt(rq);
    return begin(rq, store, &attempt);
}

int login_refuse_client(struct request *rq, struct store *store, const char *message) {
    const struct store_login attempt = start_attempt(rq);
    return fail_login(rq, store, &attempt, UNAUTHORIZED, message);
}
