/* switchboard retention */
#include <stdlib.h>

#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/listing.h"
#include "store/retention.h"

static const char *days_text(struct arena *arena, int64_t days) {
    return days == RETENTION_FOR_EVER ? "never" : arena_printf(arena, "%lld", (long long)days);
}

static void write_days(struct json_writer *json, const char *name, int64_t days) {
    if (days == RETENTION_FOR_EVER)
        json_write_null(json, name);
    else
        json_write_integer(json, name, days);
}

static void write_row(struct json_writer *json, const struct store_retention *row) {
    json_write_text(json, "email", row->email);
    write_days(json, "messageDays", row->message_days);
    write_days(json, "rawDays", row->raw_days);
}

int retention_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    struct store_retention *rows;
    size_t count;
    enum store_result result = store_list_retention(call->store, arena, &rows, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = list_start(call);
    struct table table = TABLE(arena, "EMAIL", "MESSAGES", "RAW");
    for (size_t i = 0; i < count; i++) {
        json_write_object(&json, NULL);
        write_row(&json, &rows[i]);
        json_write_end(&json);
        table_cell(&table, rows[i].email);
        table_cell(&table, days_text(arena, rows[i].message_days));
        table_cell(&table, days_text(arena, rows[i].raw_days));
    }
    return list_print(call, &json, &table);
}

/* Replaces the number of days by that of the option, if it is given. */
static void read_days(const struct invocation *call, int option, int64_t *days) {
    const char *given = call->options[option];
    if (given)
        *days = strcmp(given, "never") == 0 ? RETENTION_FOR_EVER : strtol(given, NULL, 10);
}

int retention_set(struct invocation *call) {
    const char *email = call->operands[0];
    char user_id[ID_SIZE];
    struct store_retention row;
    enum store_result result = store_find_user(call->store, email, user_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    if ((result = store_find_retention(call->store, user_id, &row)) != STORE_OK)
        return fail_store(call, result);
    row.email = email;
    read_days(call, OPTION_MESSAGES, &row.message_days);
    read_days(call, OPTION_RAW, &row.raw_days);
    if ((result = store_set_retention(call->store, &row, call->now)) != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = object_start(call);
    write_row(&json, &row);
    return object_print(call, &json,
                        "%s: messages older than %s days and raw updates older than "
                        "%s days are deleted",
                        email, days_text(&call->arena, row.message_days),
                        days_text(&call->arena, row.raw_days));
}
