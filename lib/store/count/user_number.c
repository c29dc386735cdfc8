#include "store/count/user_number.h"

#include <stdio.h>
#include <string.h>

#include "engine/tally.h"

/* The numbers of a user. */
struct user_numbers {
    char user_id[ID_SIZE];
    int64_t last[USER_NUMBERS];
    bool is_read;    /* false: reading them was started */
    bool is_changed; /* since they were read */
};

static bool write_numbers(struct store *store, void *entry) {
    static struct statement s = {.sql =
                                     "UPDATE \"user\" SET event_sequence = ?2, "
                                     "forward_sequence = ?3, change_sequence = ?4 WHERE id = ?1"};
    const struct user_numbers *numbers = entry;
    return !numbers->is_changed ||
           sql_run_later(store, &s, TEXT(numbers->user_id), INTEGER(numbers->last[NUMBER_EVENT]),
                         INTEGER(numbers->last[NUMBER_FORWARD]),
                         INTEGER(numbers->last[NUMBER_CHANGE]));
}

/* One user at a time: most payloads are of one. */
static struct user_numbers room[2 * 1];
static struct tally users = {
    .name = "user", TALLY_IN(room), .order = tally_by_text, .write = write_numbers};

static struct user_numbers *find(const char *user_id) {
    return tally_find(&users, tally_by_text, user_id);
}

static struct user_numbers *add(struct store *store, const char *user_id) {
    struct user_numbers numbers = {.is_read = false};
    snprintf(numbers.user_id, ID_SIZE, "%s", user_id);
    return tally_add(store, &users, &numbers);
}

#define NUMBERS "event_sequence, forward_sequence, change_sequence"

static bool read_numbers(struct store *store, struct statement *s, struct user_numbers *numbers) {
    if (!sql_row(store, s))
        return false;
    for (int i = 0; i < USER_NUMBERS; i++)
        numbers->last[i] = column_integer(s, i);
    sql_stop(s);
    return numbers->is_read = true;
}

static struct statement select_numbers = {.sql = "SELECT " NUMBERS " FROM \"user\" WHERE id = ?1"};

void user_number_read_ahead(struct store *store, const char *user_id) {
    if (!sql_reads_ahead(store) || find(user_id) || !add(store, user_id))
        return;
    sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1);
    sql_start(store, &select_numbers, TEXT(user_id));
}

bool user_number_is_locked(const char *user_id) {
    return find(user_id);
}

/* Takes the first number on a server, with one statement, which locks the row. */
static bool take_first(struct store *store, struct user_numbers *numbers, enum user_number kind) {
#define TAKE(column)                                                                               \
    "UPDATE \"user\" SET " column " = " column " + 1 WHERE id = ?1 RETURNING " NUMBERS
    static struct statement statements[] = {{.sql = TAKE("event_sequence")},
                                            {.sql = TAKE("forward_sequence")},
                                            {.sql = TAKE("change_sequence")}};
    sql_start(store, &statements[kind], TEXT(numbers->user_id));
    return read_numbers(store, &statements[kind], numbers);
}

bool user_number_next(struct store *store, const char *user_id, enum user_number kind,
                      int64_t *number) {
    struct user_numbers *numbers = find(user_id);
    const bool is_first = !numbers;
    if (!numbers && !(numbers = add(store, user_id)))
        return false;
    if (is_first && !sql_is_only_writer(store)) {
        if (!take_first(store, numbers, kind))
            return false;
        *number = numbers->last[kind];
        return true;
    }
    if (is_first)
        sql_start(store, &select_numbers, TEXT(user_id));
    if (!numbers->is_read && !read_numbers(store, &select_numbers, numbers))
        return false;
    *number = ++numbers->last[kind];
    numbers->is_changed = true;
    return true;
}
