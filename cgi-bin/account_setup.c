/* GET /v2/setup: what the platform says about the set-up of a business account. */
#include "api/auth.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "setup/setup.h"

static const struct field setup_query[] = {
    {.name = "accountId", .type = FIELD_STRING},
    {0},
};

/* The account of the query; without one the default, or the first. NULL: there is none. */
static const struct store_account *choose(const struct store_account *accounts, size_t count,
                                          const char *id) {
    const struct store_account *chosen = NULL;
    for (size_t i = 0; i < count; i++)
        if (id ? strcmp(accounts[i].id, id) == 0 : !chosen || accounts[i].is_default)
            chosen = &accounts[i];
    return chosen;
}

static void ask(void *context, const struct graph_call *call, struct graph_answer *answer) {
    upstream_ask(context, call, answer);
}

static void write_row(struct json_writer *data, struct arena *arena, const struct setup_row *row) {
    const struct setup_value *value = row->values.list;
    json_write_object(data, NULL);
    json_write_text(data, "status", setup_level_words[row->level]);
    json_write_text(data, "check", setup_say(arena, row->check, &row->values));
    json_write_text(data, "detail", setup_say(arena, row->detail, &row->values));
    json_write_text(data, "todo", setup_say(arena, row->todo, &row->values));
    json_write_text(data, "checkCode", setup_code(row->check));
    json_write_text(data, "detailCode", setup_code(row->detail));
    json_write_text(data, "todoCode", setup_code(row->todo));
    json_write_object(data, "values");
    for (; value->name; value++)
        json_write_text(data, value->name, value->text);
    json_write_end(data);
    json_write_end(data);
}

static int reply_rows(struct request *rq, const struct store_account *account,
                      const struct setup_row *rows, size_t count) {
    struct json_writer data;
    reply_start(rq, &data);
    json_write_text(&data, "accountId", account ? account->id : NULL);
    json_write_text(&data, "wabaid", account ? account->waba_id : NULL);
    json_write_time(&data, "checkedAt", rq->now);
    json_write_array(&data, "rows");
    for (size_t i = 0; i < count; i++)
        write_row(&data, rq->arena, &rows[i]);
    json_write_end(&data);
    return reply_object(rq, &data);
}

/* Answers what is known without the platform. */
static int reply_missing(struct request *rq, const struct store_account *account,
                         enum setup_text check, enum setup_text todo) {
    struct setup_row row = {SETUP_FAULT, check, SETUP_NONE, todo,
                            SETUP_WITH({"account", account ? account->id : ""})};
    return reply_rows(rq, account, &row, 1);
}

static int check_account(struct request *rq, const struct store_account *account) {
    struct graph_asker asker = {ask, rq};
    struct setup_row *rows;
    size_t count;
    struct setup_subject subject;
    enum store_result result =
        setup_read(rq->caller->store, rq->arena, rq->config, account, rq->now, &subject);
    if (result != STORE_OK)
        return state_fail(rq, result);
    subject.token = state_account_token(rq, account);
    if (!subject.token)
        return -1;
    setup_check(rq->arena, &subject, &asker, &rows, &count);
    return reply_rows(rq, account, rows, count);
}

static int get_setup(struct request *rq) {
    const char *id = query_get(&rq->query, "accountId").p;
    struct store_account *accounts;
    size_t count;
    if (auth_list_accounts(rq, &accounts, &count))
        return -1;
    const struct store_account *account = choose(accounts, count, id);
    if (!account && id)
        return fail(rq, NOT_FOUND,
                    "There is no such account; accountId is an `id` of accounts in "
                    "GET /v2/overview.");
    if (!account)
        return reply_missing(rq, NULL, SETUP_ACCOUNT, SETUP_DO_LINK);
    if (!account->sealed_token.n)
        return reply_missing(rq, account, SETUP_TOKEN, SETUP_DO_SET_TOKEN);
    return check_account(rq, account);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/setup",
     .scope = SCOPE_MANAGE, .guard = &overview_guard, .handle = get_setup, .query = setup_query},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "account_setup",
                                     .routes = routes,
                                     .needs = READS_DATABASE | USES_KEYS | CALLS_PLATFORM,
                                     .load = http_prepare};
