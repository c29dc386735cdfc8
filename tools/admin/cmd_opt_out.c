/* switchboard opt-out */
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/person_json.h"
#include "payload/recipient.h"

/* The person, by the digits of a phone or a BSUID. */
static struct opt_out_names names_of(const char *one) {
    return recipient_is_bsuid(slice_of(one)) ? (struct opt_out_names){.bsuid = one}
                                             : (struct opt_out_names){.phone = one};
}

/* Finds the account of the first operand, and reads the person of the second one; `*one` NULL: it
 * is not given. Returns EXIT_DONE, or EXIT_FAILED after printing why not. */
static int read_operands(struct invocation *call, struct store_account *account, const char **one) {
    const char *account_id = call->operands[0];
    *one = call->operand_count > 1 ? recipient_stored(&call->arena, slice_of(call->operands[1]))
                                   : NULL;
    enum store_result result =
        store_find_account(call->store, &call->arena, NULL, account_id, account);
    return result == STORE_OK ? EXIT_DONE : fail_row(call, result, ROW_ACCOUNT, account_id);
}

int opt_out_list(struct invocation *call) {
    struct store_opt_out_filter filter = {0};
    struct store_account account;
    struct list list;
    enum store_result result = STORE_OK;
    if (read_operands(call, &account, &filter.identity) != EXIT_DONE)
        return EXIT_FAILED;
    filter.account_id = account.id;
    LIST_OPEN(&list, call, "IDENTITY", "SOURCE", "SINCE");
    while (result == STORE_OK && list_next(&list)) {
        struct store_opt_out *rows;
        size_t count = 0;
        filter.after = list.page.after;
        filter.limit = list.page.limit;
        result = store_list_opt_outs(call->store, &list.arena, &filter, &rows, &count);
        for (size_t i = 0; result == STORE_OK && i < count; i++) {
            opt_out_json_write(&list.json, &rows[i]);
            table_cell(&list.table, rows[i].identity);
            table_cell(&list.table, rows[i].source);
            table_cell(&list.table, time_text(&list.arena, rows[i].since));
        }
        if (result == STORE_OK)
            list_print_page(&list, count, count ? rows[count - 1].identity : NULL);
    }
    if (result == STORE_OK)
        return list_close(&list);
    list_abandon(&list);
    return fail_store(call, result);
}

static int print_change(struct invocation *call, const struct store_account *account,
                        const char *one, bool is_opted_out) {
    struct json_writer json = object_start(call);
    json_write_text(&json, "accountId", account->id);
    json_write_text(&json, "identity", one);
    json_write_bool(&json, "optedOut", is_opted_out);
    return object_print(call, &json, "%s %s", one,
                        is_opted_out ? "gets no marketing" : "gets marketing again");
}

int opt_out_add(struct invocation *call) {
    struct store_account account;
    const char *one;
    if (read_operands(call, &account, &one) != EXIT_DONE)
        return EXIT_FAILED;
    const struct opt_out_names names = names_of(one);
    enum store_result result =
        store_insert_opt_out(call->store, account.user_id, account.id, &names, call->now);
    return result == STORE_OK ? print_change(call, &account, one, true) : fail_store(call, result);
}

int opt_out_remove(struct invocation *call) {
    struct store_account account;
    const char *one;
    bool is_opted_out;
    if (read_operands(call, &account, &one) != EXIT_DONE)
        return EXIT_FAILED;
    const struct opt_out_names names = names_of(one);
    enum store_result result = store_is_opted_out(call->store, account.id, &names, &is_opted_out);
    if (result == STORE_OK && !is_opted_out)
        return fail("%s has not opted out; `switchboard opt-out list` shows who has", one);
    if (result == STORE_OK)
        result = store_delete_opt_out(call->store, account.user_id, account.id, &names);
    return result == STORE_OK ? print_change(call, &account, one, false) : fail_store(call, result);
}
