#include "api/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file_identity.h"
#include "base/log.h"
#include "base/seal.h"
#include "base/target.h"
#include "store/seal_context.h"
#include "web/transport.h"

#define FULL_RETRY_AFTER "10" /* seconds: of a failover, or of an operator who makes room */

enum { READINGS = 5 }; /* of a sealed value and the keys, until it can be decrypted */

static struct store *open_store;
static enum store_result open_result;
static bool is_prepared; /* opened before the confinement: this process cannot reopen it */

static void close_store(void) {
    store_close(open_store);
    open_store = NULL;
}

/* A program that only reads opens the database with rights to read alone, if there are such. */
static bool writes(const struct request *rq) {
    return rq->needs & WRITES_DATABASE;
}

static const char *target_of(const struct request *rq) {
    return writes(rq) ? rq->config->database : rq->config->reader;
}

static void log_database(const struct request *rq) {
    log_message(LOG_ERROR, "request %s: database %s: %s", rq->id,
                writes(rq) ? rq->config->database_name : rq->config->reader_name,
                store_reason(open_store));
}

static void open_database(struct request *rq) {
    static bool closes_at_exit;
    close_store();
    if (!closes_at_exit)
        closes_at_exit = atexit(close_store) == 0;
    open_result = writes(rq) ? store_open(target_of(rq), &open_store)
                             : store_open_for_reading(target_of(rq), &open_store);
    rq->now = clock_now();           /* a server of the database has set the clock */
    if (!(rq->needs & USES_NETWORK)) /* it is confined, or will be */
        transport_end_with(store_forbid_reconnecting(open_store));
    if (open_result == STORE_OK && transport_is_fastcgi())
        store_keep_settings(open_store);
}

static bool is_on_server(const struct request *rq) {
    return !target_file(rq->config->database);
}

/* Opens the database before the process is confined, if it could not be opened afterwards. */
static void prepare(struct request *rq) {
    const bool is_server = is_on_server(rq);
    if (writes(rq) && !is_server)
        return;
    open_database(rq);
    is_prepared = !is_server || !(rq->needs & USES_NETWORK);
}

/* For each program that this file is linked to, so that none can forget it. */
__attribute__((constructor)) static void register_prepare(void) {
    serve_database_with(prepare);
}

/* While `switchboard copy-to` ends running requests, and until its target is configured. */
static int fail_moved(struct request *rq, enum store_result result) {
    const char *const seconds = result == STORE_BUSY ? "1" : STATE_MOVED_RETRY_AFTER;
    reply_header(rq, "Retry-After", seconds);
    return fail(rq, UNAVAILABLE, "The gateway's database is being moved; try again in %s second%s.",
                seconds, result == STORE_BUSY ? "" : "s");
}

/* Logs the reason of a store call that did not succeed, and fails the request with `code`; with 503
 * when a later request may succeed on a server: after a failover, or in another process. */
static int fail_database(struct request *rq, enum failure_code code, enum store_result result) {
    log_database(rq);
    if (is_prepared && result == STORE_UNAVAILABLE)
        transport_stop(); /* this process is confined and cannot reopen it; the next one can */
    const bool is_passing =
        is_on_server(rq) &&
        (result == STORE_BUSY || (result == STORE_UNAVAILABLE && store_is_unreachable(open_store)));
    if (store_is_moved(open_store))
        return fail_moved(rq, result);
    const bool is_full = is_on_server(rq) && result == STORE_FULL; /* another may take over */
    if (is_passing || is_full)
        code = UNAVAILABLE;
    if (result == STORE_BUSY || code == UNAVAILABLE)
        reply_header(rq, "Retry-After",
                     result == STORE_BUSY || is_passing ? "1"
                     : is_full                          ? FULL_RETRY_AFTER
                                                        : "60");
    if (is_passing && result == STORE_UNAVAILABLE)
        return fail(rq, code, "The gateway's database cannot be reached; try again in a second.");
    switch (result) {
    case STORE_BUSY:
        return fail(rq, code, "The gateway's database is busy; try again in a second.");
    case STORE_FULL:
        return fail(rq, code, "The gateway's disk is full; its operator must make room.");
    default: return fail(rq, code, "The gateway's database cannot be used; its log says why.");
    }
}

int state_fail(struct request *rq, enum store_result result) {
    return fail_database(rq, INTERNAL, result);
}

/* Fails the request and ends this process after it: the next process opens the new database. */
static int fail_replaced(struct request *rq, enum failure_code code) {
    transport_stop();
    if (open_result != STORE_OK || is_on_server(rq))
        return fail_database(rq, code, open_result != STORE_OK ? open_result : STORE_UNAVAILABLE);
    log_database(rq);
    reply_header(rq, "Retry-After", "1");
    return fail(rq, code, "The gateway's database was replaced; try again in a second.");
}

struct store *state_store(struct request *rq, enum failure_code code) {
    if (open_store && open_result == STORE_OK && store_is_alive(open_store, target_of(rq)))
        return open_store;
    if (is_prepared)
        return fail_replaced(rq, code), NULL;
    open_database(rq);
    if (open_result == STORE_OK)
        return open_store;
    fail_database(rq, code, open_result);
    close_store();
    return NULL;
}

static void release_view(void) {
    store_release_view(open_store);
}

void state_hold_view(struct request *rq) {
    store_hold_view(open_store);
    rq->release = release_view;
}

int state_open_lock(struct request *rq, const char *name) {
    enum { MODE = 0660 };
    const char *database = target_file(rq->config->database);
    const char *path = database ? arena_printf(rq->arena, "%s-%s", database, name)
                                : arena_printf(rq->arena, "%s/%s", rq->config->spool_dir, name);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, MODE);
    if (file >= 0)
        fchmod(file, MODE); /* the umask may have cleared bits; fails for a file of another user */
    else
        log_message(LOG_ERROR, "cannot open %s: %s", path, strerror(errno));
    return file;
}

const struct keyring *state_keys(struct request *rq) {
    static struct keyring keys;
    static struct stat read_stat;
    const char *path = rq->config->secret_key_file, *error = NULL;
    struct stat now;
    if (keys.count && stat(path, &now) == 0 && file_is_unchanged(&read_stat, &now))
        return &keys;
    if (stat(path, &read_stat) == 0 && keyring_read(path, rq->arena, &keys, &error) == 0)
        return &keys;
    keys.count = 0;
    log_message(LOG_ERROR, "request %s: %s", rq->id, error ? error : "the key file is missing");
    fail(rq, INTERNAL, "The gateway cannot read its keys; its log says why.");
    return NULL;
}

struct slice state_open_sealed(struct request *rq, struct state_sealed *value) {
    const struct slice nothing = {NULL, 0};
    for (int i = 0; i < READINGS; i++) {
        if (i) {
            request_release(rq); /* a view would show the old value */
            if (value->read_again(rq, value))
                return nothing;
        }
        if (!value->sealed.n)
            return SLICE("");
        const struct keyring *keys = state_keys(rq);
        if (!keys)
            return nothing;
        struct slice text = seal_open(keys, rq->arena, value->sealed, value->context);
        if (text.p)
            return text;
    }
    return nothing;
}

struct slice state_seal(struct request *rq, struct slice text, const char *context,
                        struct slice *sealed) {
    const struct keyring *keys = state_keys(rq);
    if (!keys)
        return (struct slice){NULL, 0};
    if (!sealed->p || (uint8_t)sealed->p[0] != keyring_newest(keys)->id)
        *sealed = seal_secret(keys, rq->arena, text, context);
    return *sealed;
}

static int read_token_again(struct request *rq, struct state_sealed *value) {
    struct store_account *account = value->object;
    enum store_result result =
        store_find_account(open_store, rq->arena, account->user_id, account->id, account);
    value->sealed = account->sealed_token;
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

const char *state_account_token(struct request *rq, const struct store_account *account) {
    struct store_account now = *account;
    struct state_sealed value = {.sealed = account->sealed_token,
                                 .context = account_token_context(rq->arena, account->id),
                                 .read_again = read_token_again,
                                 .object = &now};
    struct slice token = state_open_sealed(rq, &value);
    if (token.n)
        return token.p;
    if (token.p)
        fail(rq, NOT_FOUND,
             "The business account %s has no valid platform access token; the gateway's operator "
             "must set one.",
             account->id);
    else if (!rq->failure.code) {
        log_message(LOG_ERROR,
                    "request %s: the platform access token of account %s cannot be decrypted",
                    rq->id, account->id);
        fail(rq, INTERNAL,
             "The gateway cannot decrypt a platform access token; its log says more.");
    }
    return NULL;
}
