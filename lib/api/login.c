#include "api/login.h"

#include <fcntl.h>
#include <time.h>

#include "api/state.h"
#include "base/clock.h"
#include "base/password.h"

enum {
    TURNS = 2, /* hashes at the same time: each takes a processor and 19 MiB */
    TURN_WAIT_MS = 1000,
    TURN_POLL_MS = 10,
};

/* --- turns --- */

static int locks[TURNS] = {-1, -1};
static int taken = -1; /* the index of the turn that this process has; -1: none */

void login_prepare(struct request *rq) {
    for (int i = 0; i < TURNS; i++)
        locks[i] = state_open_lock(rq, arena_printf(rq->arena, "login-%d", i + 1));
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

/* --- passwords --- */

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
    struct store_login attempt = login_start(rq);
    enum store_result result = store_find_login(store, rq->arena, login->email, &login->member_id,
                                                &login->user_id, &login->password);
    if (result == STORE_OK || result == STORE_NOT_FOUND)
        result = login_count_for(rq, store, login, &attempt);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (login_begin(rq, store, &attempt))
        return -1;
    if (!password_matches(password, login->password)) {
        attempt.user_id = login->user_id;
        attempt.member_id = login->member_id;
        return login_fail(rq, store, &attempt, code, message);
    }
    result = renew_hash(rq, store, login, password);
    if (result == STORE_OK)
        result = store_clear_login_failures(store, &attempt);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}
