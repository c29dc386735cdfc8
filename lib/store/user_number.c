#include "store/user_number.h"

#include <stdio.h>
#include <string.h>

#include "store/driver.h"

#define EACH(statement)                                                                            \
    {                                                                                              \
        [NUMBER_EVENT] = {.sql = statement("event_sequence")},                                     \
        [NUMBER_FORWARD] = {.sql = statement("forward_sequence")}, [NUMBER_CHANGE] = {             \
            .sql = statement("change_sequence")                                                    \
        }                                                                                          \
    }
#define NEXT(column)                                                                               \
    "UPDATE \"user\" SET " column " = " column " + 1 WHERE id = ?1 RETURNING " column
#define WRITE(column) "UPDATE \"user\" SET " column " = ?2 WHERE id = ?1"

static bool take(struct store *store, const char *user_id, enum user_number kind, int64_t *number) {
    static struct statement statements[USER_NUMBERS] = EACH(NEXT);
    struct statement *s = &statements[kind];
    sql_start(store, s, TEXT(user_id));
    if (!sql_row(store, s))
        return false;
    *number = column_integer(s, 0);
    return !sql_row(store, s) && !sql_failed(store); /* SQLite writes when the last step is done */
}

static bool write_all(struct store *store, struct user_numbers *numbers) {
    static struct statement statements[USER_NUMBERS] = EACH(WRITE);
    for (size_t i = 0; i < USER_NUMBERS; i++) {
        if (numbers->of[i].last == numbers->of[i].written)
            continue;
        numbers->of[i].written = numbers->of[i].last;
        if (!sql_run(store, &statements[i], TEXT(numbers->user_id), INTEGER(numbers->of[i].last)))
            return false;
    }
    return true;
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
    if (strcmp(numbers->user_id, user_id) != 0) {
        if (!write_all(store, numbers))
            return false;
        *numbers = (struct user_numbers){0};
        snprintf(numbers->user_id, sizeof numbers->user_id, "%s", user_id);
    }
    if (numbers->of[kind].last) {
        *number = ++numbers->of[kind].last;
        return true;
    }
    if (!take(store, user_id, kind, number))
        return false;
    numbers->of[kind].last = numbers->of[kind].written = *number;
    return true;
}
