#include "api/state.h"
#include "base/seal.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "store/seal_context.h"
#include "web/transport.h"

static struct store *open_store;
static enum store_result open_result;
static bool is_prepared; /* opened by state_prepare: a confined process cannot reopen it */

static void close_store(void) {
    store_close(open_store);
    open_store = NULL;
}

static void open_database(const struct request *rq) {
    static bool closes_at_exit;
    const struct config *config = rq->config;
    close_store();
    if (!closes_at_exit)
        closes_at_exit = atexit(close_store) == 0;
    open_result = rq->needs & WRITES_DATABASE
                      ? store_open(config->database, &open_store)
                      : store_open_for_reading(config->database, &open_store);
}

void state_prepare(struct request *rq) {
    open_database(rq);
    is_prepared = true;
}

/* Logs the reason of a store call that did not succeed, and fails the request with `code`. */
static int fail_database(struct request *rq, enum failure_code code, enum store_result result) {
    log_message(LOG_ERROR, "request %s: database %s: %s", rq->id, rq->config->database_name,
                store_reason(open_store));
    if (is_prepared && result == STORE_UNAVAILABLE)
        transport_stop(); /* this process is confined and cannot reopen it; the next one can */
    if (result == STORE_BUSY || code == UNAVAILABLE)
        reply_header(rq, "Retry-After", result == STORE_BUSY ? "1" : "60");
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
    if (open_result != STORE_OK)
        return fail_database(rq, code, open_result);
    log_message(LOG_ERROR, "request %s: database %s: %s", rq->id, rq->config->database_name,
                store_reason(open_store));
    reply_header(rq, "Retry-After", "1");
    return fail(rq, code, "The gateway's database was replaced; try again in a second.");
}

struct store *state_store(struct request *rq, enum failure_code code) {
    if (open_store && open_result == STORE_OK && store_is_alive(open_store, rq->config->database))
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

const struct keyring *state_keys(struct request *rq) {
    static struct keyring keys;
    static struct stat read_stat;
    const char *path = rq->config->secret_key_file, *error = NULL;
    struct stat now;
    if (keys.count && stat(path, &now) == 0 && now.st_ino == read_stat.st_ino &&
        now.st_mtim.tv_sec == read_stat.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == read_stat.st_mtim.tv_nsec)
        return &keys;
    if (stat(path, &read_stat) == 0 && keyring_read(path, rq->arena, &keys, &error) == 0)
        return &keys;
    keys.count = 0;
    log_message(LOG_ERROR, "request %s: %s", rq->id, error ? error : "the key file is missing");
    fail(rq, INTERNAL, "The gateway cannot read its keys; its log says why.");
    return NULL;
}

/* Finds the account again in its present state. Returns false after failing the request. */
static bool find_again(struct request *rq, struct store_account *account) {
    struct store *store = state_store(rq, INTERNAL);
    if (!store)
        return false;
    request_release(rq);
    enum store_result result =
        store_find_account(store, rq->arena, account->user_id, account->id, account);
    return result == STORE_OK || state_fail(rq, result) == 0;
}

const char *state_account_token(struct request *rq, const struct store_account *account) {
    const char *context = account_token_context(rq->arena, account->id);
    struct store_account now = *account;
    for (int i = 0; i < STATE_READINGS && (!i || find_again(rq, &now)); i++) {
        if (!now.sealed_token.n)
            return fail(rq, NOT_FOUND,
                        "The business account %s has no valid platform access token; the "
                        "gateway's operator must set one.",
                        account->id),
                   NULL;
        const struct keyring *keys = state_keys(rq);
        if (!keys)
            return NULL;
        struct slice token = seal_open(keys, rq->arena, now.sealed_token, context);
        if (token.p)
            return token.p;
    }
    if (rq->failure.code)
        return NULL;
    log_message(LOG_ERROR,
                "request %s: the platform access token of account %s cannot be decrypted", rq->id,
                account->id);
    fail(rq, INTERNAL, "The gateway cannot decrypt a platform access token; its log says more.");
    return NULL;
}
