/* The table of the PostgreSQL driver. Each of its parts is a file postgresql_*.c. */
#include "engine/postgresql.h"

#include "engine/postgresql_driver.h"

static void hold_view(struct store *store) {
    (void)store; /* each statement sees what was committed before it */
}

static void release_view(struct store *store) {
    (void)store;
}

enum store_result postgresql_connect(const char *target, bool for_reading, struct store **store) {
    return postgresql_make(&postgresql_driver, target, for_reading, store);
}

static enum store_result open_store(const char *target, bool for_reading, struct store **store) {
    enum store_result result = postgresql_connect(target, for_reading, store);
    return result == STORE_OK ? postgresql_begin_session(*store) : result;
}

const struct driver postgresql_driver = {
    .open = open_store,
    .close = postgresql_close,
    .is_alive = postgresql_is_alive,
    .set_lock_timeout = postgresql_set_lock_timeout,
    .tend = postgresql_tend,
    .prepare = postgresql_prepare,
    .drop = postgresql_drop,
    .start = postgresql_start,
    .row = postgresql_row,
    .stop = postgresql_stop,
    .ignore = postgresql_ignore,
    .wait = postgresql_wait,
    .changes = postgresql_changes,
    .total_changes = postgresql_total_changes,
    .column = postgresql_column,
    .integer = postgresql_column_integer,
    .is_null = postgresql_is_null,
    .hold_view = hold_view,
    .release_view = release_view,
    .forbid_reconnecting = postgresql_forbid_reconnecting,
    .begin = postgresql_begin,
    .commit = postgresql_commit,
    .repeat = postgresql_repeat,
    .lock = postgresql_lock,
    .lock_space = postgresql_lock_space,
    .try_lock = postgresql_try_lock,
    .limit_work = postgresql_limit_work,
    .limit_time = postgresql_limit_time,
    .is_within_limit = postgresql_is_within_limit,
};
