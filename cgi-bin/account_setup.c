/* GET /v2/setup: what the platform says about the set-up of a business account. */
#include "api/auth.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "graph/setup.h"
#include "store/usage.h"

enum { SEARCHED_DAYS = 7 };

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

static enum store_result read_lines(struct request *rq, const char *account_id,
                                    struct setup_subject *subject) {
    struct line *lines;
    struct usage_last *last;
    size_t count;
    enum store_result result =
        store_list_line_usage(rq->caller->store, rq->arena, rq->caller->user.id, account_id,
                              SEARCHED_DAYS, rq->now, &lines, &last, &count);
    if (result != STORE_OK)
        return result;
    struct setup_line *found = arena_alloc(rq->arena, (count + 1) * sizeof *found);
    for (size_t i = 0; i < count; i++)
        found[i] = (struct setup_line){lines[i].phone_number_id, lines[i].archived_at != INT64_MAX,
                                       usage_hour_end(last[i].webhook)};
    subject->lines = found;
    subject->line_count = count;
    return result;
}

static void ask(void *context, const struct graph_call *call, struct graph_answer *answer) {
    upstream_ask(context, call, answer);
}

static int reply_rows(struct request *rq, const struct store_account *account,
                      const struct setup_row *rows, size_t count) {
    struct json_writer data;
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_text(&data, "accountId", account ? account->id : NULL);
    json_write_text(&data, "wabaid", account ? account->waba_id : NULL);
    json_write_time(&data, "checkedAt", rq->now);
    json_write_array(&data, "rows");
    for (size_t i = 0; i < count; i++) {
        json_write_object(&data, NULL);
        json_write_text(&data, "status", setup_level_words[rows[i].level]);
        json_write_text(&data, "check", rows[i].check);
        json_write_text(&data, "detail", rows[i].detail);
        json_write_text(&data, "todo", rows[i].todo);
        json_write_end(&data);
    }
    json_write_end(&data);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

/* Answers what is known without the platform. */
static int reply_missing(struct request *rq, const struct store_account *account, const char *check,
                         const char *todo) {
    struct setup_row row = {SETUP_FAULT, check, "there is none", todo};
    return reply_rows(rq, account, &row, 1);
}

static int check_account(struct request *rq, const struct store_account *account) {
    const char *url = rq->config->public_url;
    struct graph_asker asker = {ask, rq};
    struct setup_row *rows;
    size_t count;
    struct setup_subject subject = {
        .waba_id = account->waba_id,
        .app_secret = rq->config->app_secret,
        .callback_url = *url ? arena_printf(rq->arena, "%s/platform/webhook", url) : NULL,
        .days = SEARCHED_DAYS,
        .now = rq->now,
    };
    enum store_result result = read_lines(rq, account->id, &subject);
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
    enum store_result result =
        store_list_accounts(rq->caller->store, rq->arena, rq->caller->user.id, &accounts, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const struct store_account *account = choose(accounts, count, id);
    if (!account && id)
        return fail(rq, NOT_FOUND,
                    "There is no such account; accountId is an `id` of accounts in "
                    "GET /v2/overview.");
    if (!account)
        return reply_missing(rq, NULL, "business account",
                             "the operator links one with `switchboard account add`");
    if (!account->sealed_token.n)
        return reply_missing(rq, account, "platform token",
                             "the operator sets one with `switchboard account token`");
    return check_account(rq, account);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/setup",
     .guard = &overview_guard, .handle = get_setup, .query = setup_query},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "account_setup",
                                   .routes = routes,
                                   .needs = READS_DATABASE | USES_KEYS | CALLS_PLATFORM,
                                   .load = http_prepare},
                 argc, argv);
}
