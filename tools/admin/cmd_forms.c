/* switchboard forms */
#include "command.h"
#include "graph/page.h"
#include "nouns.h"
#include "output.h"
#include "payload/flow_object.h"
#include "platform_call.h"
#include "secret.h"

enum { PAGE_LIMIT = 100, MOST_PAGES = 1000 };

static int find_account(struct invocation *call, struct store_account *account) {
    const char *id = call->operands[0];
    struct store_account *all;
    size_t count;
    enum store_result result = store_list_accounts(call->store, &call->arena, NULL, &all, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].id, id) == 0)
            return *account = all[i], EXIT_DONE;
    return fail_missing(ROW_ACCOUNT, id);
}

static int get_page(struct invocation *call, const char *token, struct graph_page_request *wanted,
                    struct graph_page *page) {
    struct graph_answer answer;
    struct json json;
    struct json_error error;
    do {
        struct graph_call get = {
            .method = "GET", .path = graph_page_path(&call->arena, wanted), .token = token};
        graph_call(&call->config, &call->arena, &get, &answer);
    } while (graph_page_halve(&call->arena, &answer, wanted));
    bool is_page = answer.status == 200 &&
                   json_read(&call->arena, answer.body, &json, &error) == 0 &&
                   graph_page_read(json, page);
    return is_page ? EXIT_DONE : platform_fail(call, &answer, "list of flows");
}

/* Appends the account's flows of all pages to the buffer. */
static int get_flows(struct invocation *call, const struct store_account *account,
                     struct buffer *flows) {
    struct graph_page_request wanted = {
        .waba_id = account->waba_id, .edge = "flows", .limit = PAGE_LIMIT};
    const char *token;
    int status = secret_open_token(call, account, &token);
    for (int pages = 0; status == EXIT_DONE && pages < MOST_PAGES; pages++) {
        struct graph_page page;
        struct store_flow *some;
        status = get_page(call, token, &wanted, &page);
        if (status != EXIT_DONE)
            return status;
        size_t count = flow_read_all(&call->arena, page.items, &some);
        buffer_add(flows, some, count * sizeof *some);
        wanted.after = graph_page_next(&call->arena, &page);
        if (!wanted.after)
            return EXIT_DONE;
    }
    return status == EXIT_DONE
               ? fail("the platform's list of flows does not end after %d pages", MOST_PAGES)
               : status;
}

int forms_sync(struct invocation *call) {
    struct store_account account;
    struct buffer flows = buffer_in(&call->arena);
    int status = find_account(call, &account);
    if (status == EXIT_DONE)
        status = get_flows(call, &account, &flows);
    if (status != EXIT_DONE)
        return status;
    size_t count = flows.n / sizeof(struct store_flow);
    enum store_result result =
        store_upsert_flows(call->store, &call->arena, account.id,
                           (const struct store_flow *)(void *)flows.p, count, call->now);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = object_start(call);
    json_write_text(&json, "accountId", account.id);
    json_write_integer(&json, "flows", (int64_t)count);
    return object_print(call, &json, "account %s: %zu flow%s", account.id, count,
                        count == 1 ? "" : "s");
}
