/* switchboard line */
#include <stdlib.h>

#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/admin.h"
#include "store/line.h"

int line_add(struct invocation *call) {
    char new_id[ID_SIZE], id[ID_SIZE];
    id_make(new_id, "lin_", call->now);
    struct store_new_line line = {
        .id = new_id,
        .account_id = call->operands[0],
        .phone_number_id = call->options[OPTION_PHONE_NUMBER_ID],
        .phone_number = call->options[OPTION_NUMBER],
        .name = call->options[OPTION_NAME],
        .platform_type = call->options[OPTION_PLATFORM_TYPE],
        .is_registered = !call->options[OPTION_UNREGISTERED],
        .is_coexisting = call->options[OPTION_COEXISTING] != NULL,
        .make_primary = call->options[OPTION_PRIMARY] != NULL,
        .now = call->now,
    };
    enum store_result result = store_insert_line(call->store, &line, id);
    if (result == STORE_CONFLICT)
        return fail("the line %s exists already; `switchboard line list` shows its account",
                    line.phone_number_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_ACCOUNT, line.account_id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", id);
    json_write_text(&json, "accountId", line.account_id);
    json_write_text(&json, "phoneNumberId", line.phone_number_id);
    json_write_text(&json, "phoneNumber", line.phone_number);
    return object_print(call, &json, "%s", id);
}

int line_archive(struct invocation *call) {
    const char *phone_number_id = call->operands[0];
    enum store_result result = store_archive_line(call->store, phone_number_id, call->now);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_LINE, phone_number_id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "phoneNumberId", phone_number_id);
    json_write_bool(&json, "isArchived", true);
    return object_print(call, &json, "archived line %s", phone_number_id);
}

int line_rate(struct invocation *call) {
    const char *phone_number_id = call->operands[0];
    const int64_t rate = strtol(call->operands[1], NULL, 10); /* `default` is 0 */
    enum store_result result = store_set_line_rate(call->store, phone_number_id, rate);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_LINE, phone_number_id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "phoneNumberId", phone_number_id);
    json_write_integer_or_null(&json, "sendRate", rate);
    return object_print(call, &json, "line %s sends %s queued messages a second", phone_number_id,
                        rate ? call->operands[1] : "the default number of");
}

static void write_line(struct json_writer *json, const struct line *line) {
    json_write_object(json, NULL);
    json_write_text(json, "id", line->id);
    json_write_text(json, "accountId", line->account_id);
    json_write_text(json, "phoneNumberId", line->phone_number_id);
    json_write_text(json, "phoneNumber", line->phone_number);
    json_write_text(json, "name", line->name);
    json_write_bool(json, "isRegistered", line->is_registered);
    json_write_bool(json, "isCoexisting", line->is_coexisting);
    json_write_text(json, "platformType", line->platform_type);
    json_write_integer_or_null(json, "sendRate", line->send_rate);
    json_write_bool(json, "isPrimary", line->is_primary);
    json_write_bool(json, "isArchived", line->archived_at != INT64_MAX);
    json_write_time(json, "createdAt", line->created_at);
    json_write_end(json);
}

/* Such as `primary, archived`. */
static const char *state_text(struct arena *arena, const struct line *line) {
    const struct {
        bool applies;
        const char *word;
    } words[] = {
        {line->is_primary, "primary"},
        {line->archived_at != INT64_MAX, "archived"},
        {!line->is_registered, "unregistered"},
        {line->is_coexisting, "coexisting"},
    };
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].applies)
            buffer_printf(&text, "%s%s", text.n ? ", " : "", words[i].word);
    return text.p;
}

int line_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    const char *account_id = call->options[OPTION_ACCOUNT];
    struct line *lines;
    size_t count;
    struct store_account account;
    enum store_result result =
        account_id ? store_find_account(call->store, arena, NULL, account_id, &account) : STORE_OK;
    if (result == STORE_OK)
        result = store_list_lines(call->store, arena,
                                  &(struct line_filter){.account_id = account_id}, &lines, &count);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_ACCOUNT, account_id);
    struct json_writer json = list_start(call);
    struct table table =
        TABLE(arena, "PHONE NUMBER ID", "NUMBER", "NAME", "ACCOUNT", "PLATFORM", "RATE", "STATE");
    for (size_t i = 0; i < count; i++) {
        write_line(&json, &lines[i]);
        table_cell(&table, lines[i].phone_number_id);
        table_cell(&table, lines[i].phone_number);
        table_cell(&table, lines[i].name);
        table_cell(&table, lines[i].account_id);
        table_cell(&table, lines[i].platform_type);
        table_cell(&table, lines[i].send_rate
                               ? arena_printf(arena, "%lld", (long long)lines[i].send_rate)
                               : NULL);
        table_cell(&table, state_text(arena, &lines[i]));
    }
    return list_print(call, &json, &table);
}

/* --- the option --lines of other commands --- */

int line_option_read(struct invocation *call, const char *user_id, const char *list,
                     const char **ids) {
    struct slice rest = slice_of(list);
    struct buffer found = buffer_in(&call->arena);
    struct line *lines;
    size_t count;
    *ids = NULL;
    if (!list)
        return EXIT_DONE;
    enum store_result result =
        store_list_lines(call->store, &call->arena,
                         &(struct line_filter){.view = WHOLE_VIEW(user_id)}, &lines, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    while (rest.n) {
        struct slice wanted = slice_cut(&rest, ' ');
        size_t i = 0;
        while (i < count && !slice_equal(wanted, slice_of(lines[i].phone_number_id)))
            i++;
        if (i == count)
            return fail("the user has no line %.*s; `switchboard line list` shows all",
                        (int)wanted.n, wanted.p);
        buffer_printf(&found, "%s%s", found.n ? " " : "", lines[i].id);
    }
    *ids = buffer_slice(&found).p;
    return EXIT_DONE;
}
