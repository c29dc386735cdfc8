/* The functions of sql.h, and those of store.h on the connection, with any driver. */
#include "engine/driver.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the connection --- */

void store_close(struct store *store) {
    if (!store)
        return;
    if (store->kept)
        store->free_kept(store->kept);
    tally_forget_all(store);
    for (struct statement *s = store->prepared; s; s = s->next) {
        store->driver->drop(s);
        s->prepared = NULL;
    }
    if (store->driver)
        store->driver->close(store);
    else
        free(store);
}

const char *store_reason(const struct store *store) {
    return store ? store->reason : "out of memory";
}

bool store_is_unreachable(const struct store *store) {
    return store && store->is_unreachable;
}

bool store_is_moved(const struct store *store) {
    return store && store->is_moved;
}

bool store_is_stuck(const struct store *store) {
    return store && store->is_stuck;
}

bool store_is_alive(struct store *store, const char *target) {
    return store->driver->is_alive(store, target);
}

enum store_result store_set_lock_timeout(struct store *store, int ms) {
    return store->driver->set_lock_timeout(store, ms);
}

enum store_result store_tend(struct store *store, int64_t now) {
    return store->driver->tend(store, now);
}

void store_hold_view(struct store *store) {
    if (store->driver->hold_view)
        store->driver->hold_view(store);
}

void store_release_view(struct store *store) {
    if (store && store->driver && store->driver->release_view)
        store->driver->release_view(store);
}

int store_forbid_reconnecting(struct store *store) {
    if (!store || !store->driver || !store->driver->forbid_reconnecting)
        return -1;
    return store->driver->forbid_reconnecting(store);
}

void store_limit_work(struct store *store, int64_t most) {
    store->driver->limit_work(store, most);
}

void store_limit_time(struct store *store, int64_t ms) {
    if (store->driver->limit_time)
        store->driver->limit_time(store, ms);
}

/* --- failures --- */

enum store_result sql_result(struct store *store) {
    enum store_result failure = store->failure;
    store->failure = STORE_OK;
    return failure;
}

enum store_result sql_found(struct store *store, bool found) {
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

bool sql_failed(const struct store *store) {
    return store->failure != STORE_OK;
}

bool sql_conflicted(const struct store *store) {
    return store->failure == STORE_CONFLICT;
}

void sql_latch(struct store *store, enum store_result result) {
    if (!store->failure)
        store->failure = result;
}

void sql_abandon(struct store *store) {
    if (!store->failure)
        store->failure = sql_refuse(store, STORE_UNKNOWN, "the transaction was abandoned");
}

enum store_result sql_refuse(struct store *store, enum store_result result, const char *format,
                             ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(store->reason, sizeof store->reason, format, args);
    va_end(args);
    store->is_moved = false;
    return result;
}

enum store_result sql_refuse_moved(struct store *store, enum store_result result,
                                   const char *reason) {
    sql_refuse(store, result, "%s", reason);
    store->is_moved = true;
    return result;
}

/* --- statements --- */

bool sql_prepare(struct store *store, struct statement *statement) {
    if (statement->prepared && statement->store == store)
        return true;
    if (statement->prepared) /* it would run on the other database */
        sql_abandon(store);
    if (store->failure || !store->driver->prepare(store, statement))
        return false;
    statement->store = store;
    statement->next = store->prepared;
    store->prepared = statement;
    return true;
}

void sql_start_with(struct store *store, struct statement *statement,
                    const struct parameter *parameters, size_t count) {
    if (!store->failure && sql_prepare(store, statement))
        store->driver->start(store, statement, parameters, count);
}

void sql_stop(struct statement *statement) {
    if (statement->prepared)
        statement->store->driver->stop(statement);
}

bool sql_row(struct store *store, struct statement *statement) {
    if (!store->failure && store->driver->row(store, statement))
        return true;
    sql_stop(statement);
    return false;
}

bool sql_run_later_with(struct store *store, struct statement *statement,
                        const struct parameter *parameters, size_t count) {
    sql_start_with(store, statement, parameters, count);
    if (!store->failure && store->driver->ignore)
        store->driver->ignore(statement);
    else
        sql_row(store, statement);
    return !store->failure;
}

bool sql_wait(struct store *store) {
    if (!store->failure && store->driver->wait)
        store->driver->wait(store);
    return !store->failure;
}

bool sql_reads_ahead(const struct store *store) {
    return store->driver->wait;
}

bool sql_is_only_writer(const struct store *store) {
    return !store->driver->lock;
}

int sql_changes(const struct store *store) {
    return store->driver->changes(store);
}

int64_t sql_total_changes(struct store *store) {
    sql_wait(store);
    return store->driver->total_changes(store);
}

const char *column_text(struct statement *statement, int column, struct arena *arena) {
    return column_blob(statement, column, arena).p;
}

struct slice column_blob(struct statement *statement, int column, struct arena *arena) {
    struct slice bytes = statement->store->driver->column(statement, column);
    return (struct slice){bytes.p ? arena_copy(arena, bytes) : NULL, bytes.n};
}

bool column_id(struct statement *statement, int column, char id[ID_SIZE]) {
    struct slice bytes = statement->store->driver->column(statement, column);
    snprintf(id, ID_SIZE, "%.*s", (int)bytes.n, bytes.p ? bytes.p : "");
    return bytes.p;
}

bool sql_read_id(struct store *store, struct statement *s, char id[ID_SIZE]) {
    if (!sql_row(store, s))
        return false;
    bool has_id = column_id(s, 0, id);
    sql_stop(s);
    return has_id;
}

const char **sql_read_ids(struct store *store, struct statement *s, struct arena *arena,
                          size_t *count) {
    struct buffer ids = buffer_in(arena);
    while (sql_row(store, s)) {
        const char *const id = column_text(s, 0, arena);
        buffer_add(&ids, &id, sizeof id);
    }
    return buffer_array(&ids, sizeof(char *), count);
}

int64_t column_integer(struct statement *statement, int column) {
    return statement->store->driver->integer(statement, column);
}

int64_t column_time(struct statement *statement, int column) {
    return column_is_null(statement, column) ? INT64_MAX : column_integer(statement, column);
}

bool column_is_null(struct statement *statement, int column) {
    return statement->store->driver->is_null(statement, column);
}

/* --- transactions --- */

static void commit(struct store *store) {
    tally_write_all(store);
    store->driver->commit(store);
    tally_forget_all(store);
}

/* Ends a run of a transaction's body; whether it is run again. */
static bool end_run(struct store *store) {
    commit(store);
    if (store->failure == STORE_CONFLICT && store->repeat.is_hopeful) {
        store->repeat.is_hopeful = false;
        store->repeat.is_cautious = true;
        store->failure = STORE_OK;
        return true;
    }
    return store->failure && store->driver->repeat && store->driver->repeat(store);
}

bool sql_transact(struct store *store) {
    bool goes_on = !store->failure;
    if (store->repeat.is_open) {
        goes_on = end_run(store);
    } else {
        store->repeat.count = 0;
        store->repeat.may_have_committed = false;
        store->repeat.is_hopeful = store->repeat.is_cautious = false;
    }
    while (goes_on && !store->driver->begin(store))
        goes_on = end_run(store);
    store->repeat.is_open = goes_on;
    return goes_on;
}

bool sql_may_have_committed(const struct store *store) {
    return store->repeat.may_have_committed;
}

bool sql_repeat_conflict(struct store *store) {
    store->repeat.is_hopeful = !store->repeat.is_cautious;
    return store->repeat.is_cautious;
}

bool sql_begin(struct store *store) {
    store->repeat.count = 0;
    store->repeat.may_have_committed = false;
    return store->driver->begin(store);
}

enum store_result sql_commit(struct store *store) {
    commit(store);
    return sql_result(store);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Copies the names that are not NULL, sorted. NULL: memory is exhausted, or another failure. */
static const char **sort_names(struct store *store, const char *const *names, size_t count,
                               size_t *n) {
    const char **sorted = store->failure ? NULL : malloc((count + 1) * sizeof *sorted);
    *n = 0;
    if (!sorted) {
        sql_abandon(store);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (names[i])
            sorted[(*n)++] = names[i];
    qsort(sorted, *n, sizeof *sorted, compare_names);
    return sorted;
}

void sql_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
              const char *const *names, size_t count) {
    size_t n;
    if (!store->driver->lock)
        return;
    const char **sorted = sort_names(store, names, count, &n);
    if (sorted && (n || !count))
        store->driver->lock(store, kind, owner, sorted, n);
    free(sorted);
}

void sql_start_locking(struct store *store, struct statement *statement, enum sql_lock_kind kind,
                       const char *owner, const struct parameter *parameters, size_t count) {
    struct parameter all[8] = {INTEGER(store->driver->lock_space(kind, owner))};
    assert(count < sizeof all / sizeof *all && statement->takes_lock);
    memcpy(all + 1, parameters, count * sizeof *parameters);
    sql_start_with(store, statement, all, count + 1);
}

void sql_wait_for_locks(struct store *store) {
    static struct statement s = {.sql = "SELECT 1"};
    if (!store->driver->lock)
        return;
    sql_start_with(store, &s, NULL, 0);
    if (sql_row(store, &s))
        sql_stop(&s);
}

bool sql_try_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                  const char *const *names, size_t count) {
    size_t n;
    if (!store->driver->try_lock)
        return !store->failure;
    const char **sorted = sort_names(store, names, count, &n);
    const bool is_taken =
        sorted && ((!n && count) || store->driver->try_lock(store, kind, owner, sorted, n));
    free(sorted);
    return is_taken && !store->failure;
}

bool sql_is_within_limit(struct store *store, int64_t own) {
    return store->driver->is_within_limit(store, own);
}

struct slice sql_seal(struct store *store, const struct store_secret *secret) {
    if (secret)
        sql_wait_for_locks(store);
    struct slice sealed = secret ? secret->seal(secret->context) : (struct slice){NULL, 0};
    if (secret && !sealed.p)
        sql_abandon(store);
    return sealed;
}
