/* switchboard line import */
#include "command.h"
#include "graph/phone_list.h"
#include "nouns.h"
#include "output.h"
#include "platform_call.h"
#include "secret.h"
#include "store/admin.h"
#include "store/line.h"

struct import {
    struct invocation *call;
    const char *account_id;
    struct line *lines; /* of the account, archived ones too */
    size_t line_count;
    struct json_writer json;
    struct table table;
    bool has_refused;
};

static const struct line *find_line(const struct import *import, const char *phone_number_id) {
    for (size_t i = 0; i < import->line_count; i++)
        if (strcmp(import->lines[i].phone_number_id, phone_number_id) == 0)
            return &import->lines[i];
    return NULL;
}

static void add_row(struct import *import, const char *outcome, const struct phone_number *number,
                    const char *reason) {
    const char *e164 = phone_list_e164(&import->call->arena, number->display);
    const char *values[] = {outcome, number->id, e164, number->name, reason};
    static const char *const names[] = {"outcome", "phoneNumberId", "phoneNumber", "name",
                                        "reason"};
    json_write_object(&import->json, NULL);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_write_text(&import->json, names[i], values[i]);
        table_cell(&import->table, values[i]);
    }
    json_write_end(&import->json);
}

static void add_refused(struct import *import, const struct phone_number *number,
                        const char *reason) {
    import->has_refused = true;
    add_row(import, "refused", number, reason);
}

static enum store_result read_lines(struct import *import) {
    struct invocation *call = import->call;
    return store_list_lines(call->store, &call->arena,
                            &(struct line_filter){.account_id = import->account_id}, &import->lines,
                            &import->line_count);
}

static void add_kept(struct import *import, const struct phone_number *number,
                     const struct line *line) {
    add_row(import, "kept", number,
            line->archived_at != INT64_MAX ? "archived; `switchboard line add` restores it" : NULL);
}

/* Adds the row of a number that is a line already: of this account, if another command has added it
 * meanwhile. */
static enum store_result add_conflict(struct import *import, const struct phone_number *number) {
    enum store_result result = read_lines(import);
    const struct line *line = result == STORE_OK ? find_line(import, number->id) : NULL;
    if (line)
        add_kept(import, number, line);
    else if (result == STORE_OK)
        add_refused(import, number, "it is a line of another account; see `switchboard line list`");
    return result;
}

/* Adds the number as a line. Returns EXIT_DONE, or EXIT_FAILED when the database cannot be used. */
static int add_line(struct import *import, const struct phone_number *number) {
    struct invocation *call = import->call;
    const char *display = phone_list_e164(&call->arena, number->display);
    char new_id[ID_SIZE], id[ID_SIZE];
    if (!display) {
        add_refused(import, number, "the platform shows no phone number for it");
        return EXIT_DONE;
    }
    id_make(new_id, "lin_", call->now);
    struct store_new_line line = {
        .id = new_id,
        .account_id = import->account_id,
        .phone_number_id = number->id,
        .phone_number = display,
        .name = number->name,
        .platform_type = number->platform_type,
        .is_registered = number->status && strcmp(number->status, "CONNECTED") == 0,
        .is_coexisting = number->is_on_app,
        .now = call->now,
    };
    deed_begin(call);
    enum store_result result = store_insert_line(call->store, &line, id);
    if (result == STORE_OK)
        add_row(import, "added", number,
                line.is_registered ? NULL : "not registered at the platform");
    else if (result == STORE_CONFLICT)
        result = add_conflict(import, number);
    return result == STORE_OK ? EXIT_DONE : fail_row(call, result, ROW_ACCOUNT, import->account_id);
}

static int import_number(struct import *import, const struct phone_number *number) {
    const struct line *line = find_line(import, number->id);
    if (!line)
        return add_line(import, number);
    add_kept(import, number, line);
    return EXIT_DONE;
}

/* Finds the account, its lines and its numbers at the platform. */
static int read_all(struct import *import, struct phone_number **numbers, size_t *count) {
    struct invocation *call = import->call;
    struct graph_asker asker = {platform_ask, call};
    struct graph_answer answer;
    struct store_account account;
    const char *token;
    enum store_result result =
        store_find_account(call->store, &call->arena, NULL, import->account_id, &account);
    if (result == STORE_OK)
        result = read_lines(import);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_ACCOUNT, import->account_id);
    int status = secret_open_token(call, &account, &token);
    if (status == EXIT_DONE &&
        phone_list_read(&call->arena, &asker, account.waba_id, token, numbers, count, &answer))
        return platform_fail(call, &answer, "list of numbers");
    return status;
}

int line_import(struct invocation *call) {
    struct import import = {.call = call, .account_id = call->operands[0]};
    struct phone_number *numbers;
    size_t count;
    int status = read_all(&import, &numbers, &count);
    if (status != EXIT_DONE)
        return status;
    if (!count)
        return fail("the platform's account has no number; add one in WhatsApp Manager");
    import.json = list_start(call);
    import.table = TABLE(&call->arena, "OUTCOME", "PHONE NUMBER ID", "NUMBER", "NAME", "REASON");
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = import_number(&import, &numbers[i]);
    list_print(call, &import.json, &import.table);
    return status == EXIT_DONE && import.has_refused ? EXIT_FAILED : status;
}
