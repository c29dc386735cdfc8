#include "page.h"

#include "upstream.h"

static int path_of(struct request *rq, const struct page_request *wanted, const char *limit,
                   struct graph_call *call) {
    struct buffer path = buffer_in(rq->arena);
    buffer_printf(&path, "%s/%s", graph_escape(rq->arena, slice_of(wanted->account->waba_id)),
                  wanted->edge);
    if (limit)
        buffer_printf(&path, "?limit=%s", graph_escape(rq->arena, slice_of(limit)));
    if (wanted->after)
        buffer_printf(&path, "%cafter=%s", limit ? '&' : '?',
                      graph_escape(rq->arena, slice_of(wanted->after)));
    *call = (struct graph_call){.method = "GET", .path = path.p};
    call->token = state_account_token(rq, wanted->account);
    return call->token ? 0 : -1;
}

static int read_page(struct request *rq, struct json answer, struct page *page) {
    page->items = json_get(answer, "data");
    page->paging = json_get(answer, "paging");
    if (json_type(page->items) == JSON_ARRAY)
        return 0;
    fail(rq, INTERNAL, "The platform's answer holds no list.");
    return fail_with_details(rq, json_raw(answer));
}

int page_get(struct request *rq, const struct page_request *wanted, struct page *page) {
    struct graph_call call;
    struct json answer;
    if (path_of(rq, wanted, wanted->limit, &call) ||
        upstream_call(rq, UPSTREAM_LIST, &call, &answer))
        return -1;
    return read_page(rq, answer, page);
}

/* HTTP 500 with code 1: "reduce the amount of data you're asking for". */
static bool is_too_heavy(struct request *rq, const struct graph_answer *answer) {
    struct json body;
    struct json_error error;
    int64_t code;
    return answer->status == 500 && json_read(rq->arena, answer->body, &body, &error) == 0 &&
           json_integer(json_find(body, "error.code"), &code) && code == 1;
}

int page_get_halving(struct request *rq, const struct page_request *wanted, int *limit,
                     struct page *page) {
    for (;; *limit /= 2) {
        struct graph_call call;
        struct graph_answer answer;
        struct json json;
        if (path_of(rq, wanted, arena_printf(rq->arena, "%d", *limit), &call))
            return -1;
        upstream_ask(rq, &call, &answer);
        if (*limit > 1 && is_too_heavy(rq, &answer))
            continue;
        return upstream_read(rq, UPSTREAM_LIST, &answer, &json) ? -1 : read_page(rq, json, page);
    }
}

const char *page_next(struct request *rq, const struct page *page) {
    if (json_type(json_get(page->paging, "next")) != JSON_STRING)
        return NULL;
    return json_text(json_find(page->paging, "cursors.after"), rq->arena);
}

/* The URL without its access_token parameters; p == NULL when it has none. */
static struct slice without_token(struct arena *arena, struct slice url) {
    struct buffer out = buffer_in(arena);
    struct slice rest = url, head = slice_cut(&rest, '?');
    bool found = false;
    char separator = '?';
    buffer_add_slice(&out, head);
    while (rest.n) {
        struct slice parameter = slice_cut(&rest, '&');
        if (slice_starts(parameter, SLICE("access_token="))) {
            found = true;
            continue;
        }
        buffer_add_char(&out, separator);
        buffer_add_slice(&out, parameter);
        separator = '&';
    }
    return found ? buffer_slice(&out) : (struct slice){NULL, 0};
}

struct slice page_paging(struct request *rq, const struct page *page) {
    struct json next = json_get(page->paging, "next"), previous = json_get(page->paging, "previous");
    struct slice clean_next = without_token(rq->arena, json_string(next, rq->arena));
    struct slice clean_previous = without_token(rq->arena, json_string(previous, rq->arena));
    if (!clean_next.p && !clean_previous.p)
        return json_raw(page->paging);
    struct json_writer w;
    json_write_start(&w, rq->arena);
    json_write_object(&w, NULL);
    for (struct json m = json_first(page->paging); json_is(m); m = json_next(m)) {
        struct slice name = json_name(m, rq->arena);
        if (slice_equal(name, SLICE("next")) && clean_next.p)
            json_write_string(&w, "next", clean_next);
        else if (slice_equal(name, SLICE("previous")) && clean_previous.p)
            json_write_string(&w, "previous", clean_previous);
        else
            json_write_raw(&w, name.p, json_raw(m));
    }
    json_write_end(&w);
    return json_written(&w);
}
