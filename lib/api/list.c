#include "api/list.h"

#include "api/upstream.h"

int list_get_page(struct request *rq, const struct store_account *account,
                  struct graph_page_request *wanted, bool halves, struct graph_page *page) {
    const char *token = state_account_token(rq, account);
    struct graph_answer answer;
    struct json json;
    if (!token)
        return -1;
    do {
        const struct graph_call call = {
            .method = "GET", .path = graph_page_path(rq->arena, wanted), .token = token};
        upstream_ask(rq, &call, &answer);
    } while (halves && graph_page_halve(rq->arena, &answer, wanted));
    if (upstream_read(rq, UPSTREAM_LIST, &answer, &json))
        return -1;
    if (graph_page_read(json, page))
        return 0;
    return fail_with_details(rq, INTERNAL, json_raw(json), "The platform's answer holds no list.");
}
