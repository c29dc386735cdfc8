/* switchboard account check, and doctor --online: what the platform says about accounts */
#include "base/crypto.h"
#include "base/seal.h"
#include "command.h"
#include "doctor/doctor.h"
#include "nouns.h"
#include "platform_call.h"
#include "setup/setup.h"
#include "store/seal_context.h"

static void add_row(struct report *report, const struct store_account *account,
                    const struct setup_row *row) {
    static const enum level levels[] = {
        [SETUP_OK] = OK, [SETUP_WARNING] = WARN, [SETUP_FAULT] = FAIL};
    struct arena *arena = &report->call->arena;
    report_add_row(
        report, &(struct report_row){levels[row->level], setup_say(arena, row->check, &row->values),
                                     account->id, setup_say(arena, row->detail, &row->values),
                                     setup_say(arena, row->todo, &row->values)});
}

/* Opens the token of the account. Returns NULL after adding a line. */
static const char *open_token(struct report *report, const struct store_account *account) {
    struct arena *arena = &report->call->arena;
    struct setup_row row = {SETUP_FAULT, SETUP_TOKEN, SETUP_NONE, SETUP_DO_SET_TOKEN,
                            SETUP_WITH({"account", account->id})};
    const char *token = account->sealed_token.n && report->has_keys
                            ? seal_open(&report->keys, arena, account->sealed_token,
                                        account_token_context(arena, account->id))
                                  .p
                            : NULL;
    if (token)
        return token;
    if (account->sealed_token.n)
        row.detail = SETUP_NOT_OPENED;
    add_row(report, account, &row);
    return NULL;
}

void report_add_account(struct report *report, const struct store_account *account) {
    struct invocation *call = report->call;
    struct graph_asker asker = {platform_ask, call};
    struct setup_row *rows;
    struct setup_subject subject;
    size_t count;
    if (setup_read(call->store, &call->arena, &call->config, account, call->now, &subject) !=
        STORE_OK) {
        report_add(report, FAIL, "database", "%s", store_reason(call->store));
        return;
    }
    subject.token = open_token(report, account);
    if (!subject.token)
        return;
    setup_check(&call->arena, &subject, &asker, &rows, &count);
    for (size_t i = 0; i < count; i++)
        add_row(report, account, &rows[i]);
}

/* Adds the lines of one account, or of all with `account_id` NULL. STORE_NOT_FOUND: there is none.
 */
static enum store_result add_accounts(struct report *report, const char *account_id) {
    struct invocation *call = report->call;
    struct store_account *accounts;
    size_t count, found = 0;
    enum store_result result =
        store_list_accounts(call->store, &call->arena, NULL, &accounts, &count);
    for (size_t i = 0; result == STORE_OK && i < count; i++)
        if (!account_id || strcmp(accounts[i].id, account_id) == 0) {
            report_add_account(report, &accounts[i]);
            found++;
        }
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

void doctor_check_online(struct report *report) {
    struct invocation *call = report->call;
    if (!call->options[OPTION_ONLINE] || !call->store)
        return;
    const enum store_result result = add_accounts(report, NULL);
    if (result == STORE_NOT_FOUND)
        report_add(report, WARN, "accounts", "there is none: `switchboard account add` links one");
    else if (result != STORE_OK)
        report_add(report, FAIL, "database", "%s", store_reason(call->store));
}

int account_check(struct invocation *call) {
    struct report report = {.call = call};
    const char *id = call->operand_count ? call->operands[0] : NULL, *error;
    report.json = list_start(call);
    report.table = table_start(&call->arena, 3, NULL);
    if (keyring_read(call->config.secret_key_file, &call->arena, &report.keys, &error) != 0)
        return fail("%s", error);
    report.has_keys = true;
    enum store_result result = add_accounts(&report, id);
    crypto_wipe(&report.keys, sizeof report.keys);
    if (result == STORE_NOT_FOUND && !id)
        return fail("there is no business account; `switchboard account add` links one");
    if (result != STORE_OK)
        return fail_row(call, result, ROW_ACCOUNT, id);
    list_print(call, &report.json, &report.table);
    return report.worst == FAIL ? fail("something is wrong; see the lines that begin with FAIL")
                                : EXIT_DONE;
}
