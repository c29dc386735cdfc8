/* switchboard account check, and doctor --online: what the platform says about accounts */
#include "base/crypto.h"
#include "base/seal.h"
#include "command.h"
#include "doctor.h"
#include "graph/setup.h"
#include "nouns.h"
#include "platform_call.h"
#include "store/line.h"
#include "store/seal_context.h"
#include "store/usage.h"

enum { SEARCHED_DAYS = 7 };

static void add_row(struct report *report, const struct store_account *account,
                    const struct setup_row *row) {
    static const enum level levels[] = {
        [SETUP_OK] = OK, [SETUP_WARNING] = WARN, [SETUP_FAULT] = FAIL};
    report_add_row(report, &(struct report_row){levels[row->level], row->check, account->id,
                                                row->detail, row->todo});
}

/* Opens the token of the account. Returns NULL after adding a line. */
static const char *open_token(struct report *report, const struct store_account *account) {
    struct arena *arena = &report->call->arena;
    struct setup_row row = {.level = SETUP_FAULT, .check = "platform token"};
    const char *token = account->sealed_token.n && report->has_keys
                            ? seal_open(&report->keys, arena, account->sealed_token,
                                        account_token_context(arena, account->id))
                                  .p
                            : NULL;
    if (token)
        return token;
    row.detail = account->sealed_token.n ? "it does not open with the key file" : "there is none";
    row.todo = arena_printf(arena, "`switchboard account token %s` sets one", account->id);
    add_row(report, account, &row);
    return NULL;
}

/* Finds the lines of the account, and when the last webhook of each was stored. */
static enum store_result find_lines(struct invocation *call, const struct store_account *account,
                                    struct setup_subject *subject) {
    struct line *lines;
    struct usage_last *last;
    size_t count;
    enum store_result result =
        store_list_line_usage(call->store, &call->arena, account->user_id, account->id,
                              SEARCHED_DAYS, call->now, &lines, &last, &count);
    if (result != STORE_OK)
        return result;
    struct setup_line *found = arena_alloc(&call->arena, (count + 1) * sizeof *found);
    for (size_t i = 0; i < count; i++)
        found[i] = (struct setup_line){lines[i].phone_number_id, lines[i].archived_at != INT64_MAX,
                                       usage_hour_end(last[i].webhook)};
    subject->lines = found;
    subject->line_count = count;
    return result;
}

void report_add_account(struct report *report, const struct store_account *account) {
    struct invocation *call = report->call;
    const char *url = call->config.public_url;
    struct graph_asker asker = {platform_ask, call};
    struct setup_row *rows;
    size_t count;
    struct setup_subject subject = {
        .waba_id = account->waba_id,
        .app_secret = call->config.app_secret,
        .callback_url = *url ? arena_printf(&call->arena, "%s/platform/webhook", url) : NULL,
        .days = SEARCHED_DAYS,
        .now = call->now,
    };
    if (find_lines(call, account, &subject) != STORE_OK) {
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
