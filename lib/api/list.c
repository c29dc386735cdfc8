#include "api/list.h"

#include "api/upstream.h"

static int ask(struct request *rq, const struct store_account *account,
               const struct graph_page_request *wanted, struct graph_answer *answer) {
    struct graph_call call = {.method = "GET",
                              .path = graph_page_path(rq->arena, wanted),
                              .token = state_account_token(rq, account)};
    if (!call.token)
        return -1;
    upstream_ask(rq, &call, answer);
    return 0;
}

static int read_page(struct request *rq, const struct graph_answer *answer,
                     struct graph_page *page) {
    struct json json;
    if (upstream_read(rq, UPSTREAM_LIST, answer, &json))
        return -1;
    if (graph_page_read(json, page))
        return 0;
    return fail_with_details(rq, INTERNAL, json_raw(json), "The platform's answer holds no list.");
}

int list_get_page(struct request *rq, const struct store_account *account,
                  const struct graph_page_request *wanted, struct graph_page *page) {
    struct graph_answer answer;
    return ask(rq, account, wanted, &answer) ? -1 : read_page(rq, &answer, page);
}

int list_get_page_halving(struct request *rq, const struct store_account *account,
                          struct graph_page_request *wanted, struct graph_page *page) {
    struct graph_answer answer;
    do {
        if (ask(rq, account, wanted, &answer))
            return -1;
    } while (graph_page_halve(rq->arena, &answer, wanted));
    return read_page(rq, &answer, page);
}
