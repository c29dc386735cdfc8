#include "store/user_number.h"

#include <stdio.h>
#include <string.h>

#include "store/driver.h"

static bool take(struct store *store, const char *user_id, enum user_number kind, int64_t *number) {
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
    return !sql_row(store, s) && !sql_failed(store); /* SQLite writes when the last step is done */
}

/* Locks the user's row and reads all its numbers at once. */
static bool read_all(struct store *store, const char *user_id, struct user_numbers *numbers) {
    static struct statement s = {.sql = "SELECT event_sequence, forward_sequence, change_sequence "
                                        "FROM \"user\" WHERE id = ?1"};
    sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1);
    sql_start(store, &s, TEXT(user_id));
    if (!sql_row(store, &s))
        return false;
    snprintf(numbers->user_id, sizeof numbers->user_id, "%s", user_id);
    for (int i = 0; i < USER_NUMBERS; i++)
        numbers->last[i] = column_integer(&s, i);
    sql_stop(&s);
    return true;
}

static bool write_all(struct store *store, struct user_numbers *numbers) {
    static struct statement s = {.sql =
                                     "UPDATE \"user\" SET event_sequence = ?2, "
                                     "forward_sequence = ?3, change_sequence = ?4 WHERE id = ?1"};
    if (!numbers->is_changed)
        return true;
    numbers->is_changed = false;
    return sql_run(store, &s, TEXT(numbers->user_id), INTEGER(numbers->last[NUMBER_EVENT]),
                   INTEGER(numbers->last[NUMBER_FORWARD]), INTEGER(numbers->last[NUMBER_CHANGE]));
}

void user_number_collect(struct store *store, struct user_numbers *numbers) {
    store->numbers = numbers;
}

bool user_number_write(struct store *store) {
    struct user_numbers *numbers = store->numbers;
    store->numbers = NULL;
    return !sql_failed(store) && write_all(store, numbers);
}

bool user_number_next(struct store *store, const char *user_id, enum user_number kind,
                      int64_t *number) {
    struct user_numbers *numbers = store->numbers;
    if (!numbers)
        return take(store, user_id, kind, number);
    if (strcmp(numbers->user_id, user_id) != 0 &&
        (!write_all(store, numbers) || !read_all(store, user_id, numbers)))
        return false;
    *number = ++numbers->last[kind];
    numbers->is_changed = true;
    return true;
}
