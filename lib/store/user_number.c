#include "store/user_number.h"

#include <stdio.h>
#include <string.h>

#include "engine/driver.h"

/* Takes a number without collecting them. The statement locks the row. */
static bool take_locked(struct store *store, const char *user_id, enum user_number kind,
                        int64_t *number) {
#define NEXT(column)                                                                               \
    "UPDATE \"user\" SET " column " = " column " + 1 WHERE id = ?1 RETURNING " column
    static struct statement statements[] = {{.sql = NEXT("event_sequence")},
                                            {.sql = NEXT("forward_sequence")},
                                            {.sql = NEXT("change_sequence")}};
    struct statement *s = &statements[kind];
    sql_start(store, s, TEXT(user_id));
    if (!sql_row(store, s))
        return false;
    *number = column_integer(s, 0);
    return !sql_row(store, s) && !sql_failed(store);
}

static bool write_all(struct store *store, struct user_numbers *numbers) {
    static struct statement s = {.sql =
                                     "UPDATE \"user\" SET event_sequence = ?2, "
                                     "forward_sequence = ?3, change_sequence = ?4 WHERE id = ?1"};
    if (!numbers->is_changed)
        return true;
    numbers->is_changed = false;
    return sql_run_later(store, &s, TEXT(numbers->user_id), INTEGER(numbers->last[NUMBER_EVENT]),
                         INTEGER(numbers->last[NUMBER_FORWARD]),
                         INTEGER(numbers->last[NUMBER_CHANGE]));
}

static struct statement read_numbers = {
    .sql = "SELECT event_sequence, forward_sequence, change_sequence FROM \"user\" WHERE id = ?1"};

/* Locks the user's row and starts to read its numbers. */
static void start_reading(struct store *store, const char *user_id, struct user_numbers *numbers) {
    sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1);
    sql_start(store, &read_numbers, TEXT(user_id));
    snprintf(numbers->user_id, sizeof numbers->user_id, "%s", user_id);
    numbers->is_read = false;
}

static bool read_all(struct store *store, struct user_numbers *numbers) {
    if (!sql_row(store, &read_numbers))
        return false;
    for (int i = 0; i < USER_NUMBERS; i++)
        numbers->last[i] = column_integer(&read_numbers, i);
    sql_stop(&read_numbers);
    numbers->is_read = true;
    return true;
}

/* The same in a database with one writer. */
static bool take(struct store *store, const char *user_id, enum user_number kind, int64_t *number) {
    struct user_numbers numbers;
    start_reading(store, user_id, &numbers);
    if (!read_all(store, &numbers))
        return false;
    *number = ++numbers.last[kind];
    numbers.is_changed = true;
    return write_all(store, &numbers);
}

void user_number_collect(struct store *store, struct user_numbers *numbers) {
    store->numbers = numbers;
}

bool user_number_write(struct store *store) {
    struct user_numbers *numbers = store->numbers;
    store->numbers = NULL;
    return !sql_failed(store) && write_all(store, numbers);
}

void user_number_read_ahead(struct store *store, const char *user_id) {
    struct user_numbers *numbers = store->numbers;
    if (numbers && sql_reads_ahead(store) && !user_number_is_locked(store, user_id) &&
        write_all(store, numbers))
        start_reading(store, user_id, numbers);
}

bool user_number_is_locked(const struct store *store, const char *user_id) {
    return store->numbers && strcmp(store->numbers->user_id, user_id) == 0;
}

bool user_number_next(struct store *store, const char *user_id, enum user_number kind,
                      int64_t *number) {
    struct user_numbers *numbers = store->numbers;
    if (!numbers)
        return sql_is_only_writer(store) ? take(store, user_id, kind, number)
                                         : take_locked(store, user_id, kind, number);
    if (!user_number_is_locked(store, user_id)) {
        if (!write_all(store, numbers))
            return false;
        start_reading(store, user_id, numbers);
    }
    if (!numbers->is_read && !read_all(store, numbers))
        return false;
    *number = ++numbers->last[kind];
    numbers->is_changed = true;
    return true;
}
