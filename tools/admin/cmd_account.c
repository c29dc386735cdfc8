/* switchboard account */
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "secret.h"
#include "store/admin.h"
#include "store/listing.h"

static void warn_missing_token(const char *account_id) {
    warn("account %s has no platform access token and cannot be used until `switchboard account "
         "token %s` sets one",
         account_id, account_id);
}

int account_add(struct invocation *call) {
    char id[ID_SIZE];
    id_make(id, "acc_", call->now);
    struct store_new_account account = {
        .id = id,
        .email = call->operands[0],
        .waba_id = call->options[OPTION_WABA_ID],
        .name = call->options[OPTION_NAME],
        .make_default = call->options[OPTION_DEFAULT] != NULL,
        .now = call->now,
    };
    struct secret secret;
    int status = secret_read_token(call, id, &secret);
    if (status != EXIT_DONE)
        return status;
    struct store_secret token = secret_to_store(&secret);
    if (secret.token.n)
        account.token = &token;
    enum store_result result = store_insert_account(call->store, &account);
    secret_wipe(&secret);
    if (secret.has_failed)
        return EXIT_FAILED;
    if (result == STORE_CONFLICT)
        return fail("the business account %s is linked already; `switchboard account list` shows "
                    "the user",
                    account.waba_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, account.email);
    if (!account.token)
        warn_missing_token(id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", id);
    json_write_text(&json, "wabaid", account.waba_id);
    json_write_text(&json, "name", account.name);
    json_write_bool(&json, "hasToken", account.token != NULL);
    return object_print(call, &json, "%s", id);
}

int account_token(struct invocation *call) {
    const char *id = call->operands[0];
    struct secret secret;
    int status = secret_read_token(call, id, &secret);
    if (status != EXIT_DONE)
        return status;
    struct store_secret token = secret_to_store(&secret);
    bool has_token = secret.token.n > 0;
    enum store_result result = store_set_account_token(call->store, id, has_token ? &token : NULL);
    secret_wipe(&secret);
    if (secret.has_failed)
        return EXIT_FAILED;
    if (result != STORE_OK)
        return fail_row(call, result, ROW_ACCOUNT, id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", id);
    json_write_bool(&json, "hasToken", has_token);
    return object_print(call, &json, "account %s: platform access token %s", id,
                        has_token ? "replaced" : "removed");
}

static void write_account(struct json_writer *json, const struct store_account *account) {
    json_write_object(json, NULL);
    json_write_text(json, "id", account->id);
    json_write_text(json, "email", account->email);
    json_write_text(json, "wabaid", account->waba_id);
    json_write_text(json, "name", account->name);
    json_write_bool(json, "isDefault", account->is_default);
    json_write_bool(json, "hasToken", account->sealed_token.n > 0);
    json_write_time(json, "createdAt", account->created_at);
    json_write_end(json);
}

int account_list(struct invocation *call) {
    const char *email = call->operand_count ? call->operands[0] : NULL;
    struct store_account *accounts;
    size_t count;
    char user_id[ID_SIZE];
    enum store_result result = email ? store_find_user(call->store, email, user_id) : STORE_OK;
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    result =
        store_list_accounts(call->store, &call->arena, email ? user_id : NULL, &accounts, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = list_start(call);
    struct table table =
        TABLE(&call->arena, "ID", "EMAIL", "WABA", "NAME", "DEFAULT", "TOKEN", "CREATED");
    for (size_t i = 0; i < count; i++) {
        const struct store_account *account = &accounts[i];
        write_account(&json, account);
        table_cell(&table, account->id);
        table_cell(&table, account->email);
        table_cell(&table, account->waba_id);
        table_cell(&table, account->name);
        table_cell(&table, account->is_default ? "yes" : "no");
        table_cell(&table, account->sealed_token.n ? "yes" : "no");
        table_cell(&table, time_text(&call->arena, account->created_at));
    }
    return list_print(call, &json, &table);
}
