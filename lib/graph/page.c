#include "graph/page.h"

#include <inttypes.h>

#include "graph/splice.h"

char *graph_page_path(struct arena *arena, const struct graph_page_request *wanted) {
    struct buffer path = buffer_in(arena);
    char mark = '?';
    buffer_printf(&path, "%s/%s", graph_escape(arena, slice_of(wanted->waba_id)), wanted->edge);
    if (wanted->fields) {
        buffer_printf(&path, "%cfields=%s", mark, wanted->fields);
        mark = '&';
    }
    if (wanted->name) {
        buffer_printf(&path, "%cname=%s", mark, graph_escape(arena, slice_of(wanted->name)));
        mark = '&';
    }
    if (wanted->limit) {
        buffer_printf(&path, "%climit=%" PRId64, mark, wanted->limit);
        mark = '&';
    }
    if (wanted->after)
        buffer_printf(&path, "%cafter=%s", mark, graph_escape(arena, slice_of(wanted->after)));
    return path.p;
}

bool graph_page_halve(struct arena *arena, const struct graph_answer *answer,
                      struct graph_page_request *wanted) {
    struct json body;
    struct json_error error;
    int64_t code;
    bool is_too_heavy = answer->status == 500 &&
                        json_read(arena, answer->body, &body, &error) == 0 &&
                        json_integer(json_find(body, "error.code"), &code) && code == 1;
    if (!is_too_heavy || wanted->limit <= 1)
        return false;
    wanted->limit /= 2;
    return true;
}

bool graph_page_read(struct json answer, struct graph_page *page) {
    page->items = json_get(answer, "data");
    page->paging = json_get(answer, "paging");
    return json_type(page->items) == JSON_ARRAY;
}

const char *graph_page_next(struct arena *arena, const struct graph_page *page) {
    if (json_type(json_get(page->paging, "next")) != JSON_STRING)
        return NULL;
    return json_text(json_find(page->paging, "cursors.after"), arena);
}

struct slice graph_page_paging(struct arena *arena, const struct graph_page *page) {
    static const struct link_change without_token = {.base = NULL};
    struct slice rest = json_raw(page->paging);
    struct buffer out = buffer_in(arena);
    if (json_type(page->paging) != JSON_OBJECT)
        return rest;
    for (struct json m = json_first(page->paging); json_is(m); m = json_next(m)) {
        struct slice value = json_inside(m);
        if (!value.p)
            continue;
        buffer_add(&out, rest.p, (size_t)(value.p - rest.p));
        link_add(&out, value, &without_token);
        rest = slice_skip(rest, (size_t)(value.p - rest.p) + value.n);
    }
    buffer_add_slice(&out, rest);
    return buffer_slice(&out);
}
