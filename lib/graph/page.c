#include "graph/page.h"

#include <inttypes.h>
#include <stdlib.h>

char *graph_page_path(struct arena *arena, const struct graph_page_request *wanted) {
    struct buffer path = buffer_in(arena);
    char mark = '?';
    buffer_printf(&path, "%s/%s", graph_escape(arena, slice_of(wanted->waba_id)), wanted->edge);
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

/* --- links: the raw text of JSON strings between the quotes, where `&` may be written \u0026 ---
 */

/* Reads the first character of `link` into `*c`: '\0' when it is not an ASCII character that
 * matters in a URL. Returns the number of bytes that it takes. */
static size_t read_char(struct slice link, char *c) {
    char digits[5] = {0};
    *c = link.p[0];
    if (*c != '\\')
        return 1;
    *c = link.p[1] == '/' ? '/' : '\0';
    if (link.p[1] != 'u')
        return 2;
    memcpy(digits, link.p + 2, 4);
    unsigned long code = strtoul(digits, NULL, 16);
    *c = code < 0x80 ? (char)code : '\0';
    return 6;
}

/* Cuts off and returns the bytes of `link` before the first of the characters `ends`; the whole
 * link when it has none of them. */
static struct slice cut_before(struct slice *link, const char *ends) {
    struct slice head = {link->p, 0};
    while (link->n) {
        char c;
        size_t n = read_char(*link, &c);
        if (c && strchr(ends, c))
            break;
        head.n += n;
        *link = slice_skip(*link, n);
    }
    return head;
}

/* Whether the name of the parameter is access_token. */
static bool is_access_token(struct slice parameter) {
    for (const char *name = "access_token="; *name; name++) {
        char c = '\0';
        if (parameter.n)
            parameter = slice_skip(parameter, read_char(parameter, &c));
        if (c != *name)
            return false;
    }
    return true;
}

/* Adds the link without its access_token parameters. */
static void add_link(struct buffer *out, struct slice link) {
    struct slice question = {NULL, 0}; /* to write before the first parameter that is kept */
    char c;
    buffer_add_slice(out, cut_before(&link, "?#"));
    while (link.n) {
        struct slice mark = {link.p, read_char(link, &c)};
        if (c == '#')
            break;
        link = slice_skip(link, mark.n);
        struct slice parameter = cut_before(&link, "&#");
        if (c == '?')
            question = mark;
        if (is_access_token(parameter))
            continue;
        buffer_add_slice(out, question.n ? question : mark);
        buffer_add_slice(out, parameter);
        question.n = 0;
    }
    buffer_add_slice(out, link);
}

struct slice graph_page_paging(struct arena *arena, const struct graph_page *page) {
    struct slice rest = json_raw(page->paging);
    struct buffer out = buffer_in(arena);
    if (json_type(page->paging) != JSON_OBJECT)
        return rest;
    for (struct json m = json_first(page->paging); json_is(m); m = json_next(m)) {
        struct slice value = json_raw(m);
        if (json_type(m) != JSON_STRING)
            continue;
        size_t before = (size_t)(value.p + 1 - rest.p); /* including the quote */
        buffer_add(&out, rest.p, before);
        add_link(&out, (struct slice){value.p + 1, value.n - 2});
        rest = slice_skip(rest, before + value.n - 2);
    }
    buffer_add_slice(&out, rest);
    return buffer_slice(&out);
}
