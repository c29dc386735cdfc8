#include "graph/splice.h"

#include <stdlib.h>

/* --- links --- */

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

/* Cuts `text` off; `any_case`: in any case of its letters. Returns false, and leaves `link` as it
 * is, when it does not begin with it. */
static bool cut_text(struct slice *link, const char *text, bool any_case) {
    struct slice rest = *link;
    for (; *text; text++) {
        char c = '\0';
        if (rest.n)
            rest = slice_skip(rest, read_char(rest, &c));
        if (c != *text && !(any_case && (c | 0x20) == *text))
            return false;
    }
    *link = rest;
    return true;
}

/* Cuts digits off and returns their number. */
static size_t cut_digits(struct slice *link) {
    size_t count = 0;
    char c;
    for (size_t n; link->n && (n = read_char(*link, &c)) && c >= '0' && c <= '9'; count++)
        *link = slice_skip(*link, n);
    return count;
}

/* Cuts off a first segment such as /v26.0. */
static void cut_version(struct slice *link) {
    struct slice rest = *link;
    char c;
    if (!cut_text(&rest, "/v", true) || !cut_digits(&rest) || !cut_text(&rest, ".", true) ||
        !cut_digits(&rest))
        return;
    if (!rest.n || (read_char(rest, &c) && (c == '/' || c == '?' || c == '#')))
        *link = rest;
}

/* Cuts scheme, host and version off. Returns false, and leaves `link` as it is, when it is not an
 * absolute link. */
static bool cut_base(struct slice *link) {
    if (!cut_text(link, "https://", true) && !cut_text(link, "http://", true))
        return false;
    cut_before(link, "/?#");
    cut_version(link);
    return true;
}

static bool is_access_token(struct slice parameter) {
    return cut_text(&parameter, "access_token=", false);
}

/* Cuts the first parameter off a query, which begins with ? or &. `*mark` is set to that character
 * as it is written. Returns false at the end of the query. */
static bool cut_parameter(struct slice *query, struct slice *mark, struct slice *parameter) {
    char c;
    if (!query->n)
        return false;
    *mark = (struct slice){query->p, read_char(*query, &c)};
    if (c == '#')
        return false;
    *query = slice_skip(*query, mark->n);
    *parameter = cut_before(query, "&#");
    return true;
}

/* Adds the parameters of the query but access_token, and returns what follows the query. The first
 * one that is kept follows the `?`, as it is written. */
static struct slice add_query(struct buffer *out, struct slice query, const char *token) {
    struct slice mark, parameter, question = {NULL, 0};
    bool is_first = true;
    while (cut_parameter(&query, &mark, &parameter)) {
        if (!question.p)
            question = mark;
        if (is_access_token(parameter))
            continue;
        buffer_add_slice(out, is_first ? question : mark);
        buffer_add_slice(out, parameter);
        is_first = false;
    }
    if (token)
        buffer_printf(out, "%caccess_token=%s", is_first ? '?' : '&', token);
    return query;
}

void link_add(struct buffer *out, struct slice link, const struct link_change *change) {
    if (change->base && cut_base(&link))
        buffer_add_text(out, change->base);
    buffer_add_slice(out, cut_before(&link, "?#"));
    buffer_add_slice(out, add_query(out, link, change->token));
}

bool link_has_token(struct slice link) {
    struct slice mark, parameter;
    cut_before(&link, "?#");
    while (cut_parameter(&link, &mark, &parameter))
        if (is_access_token(parameter))
            return true;
    return false;
}

/* --- the links of an answer --- */

/* A text that is copied with changes. */
struct splice {
    struct buffer out;
    struct slice rest; /* what was not copied yet */
    const struct link_change *change;
};

static struct splice splice_start(struct arena *arena, struct json value,
                                  const struct link_change *change) {
    return (struct splice){.out = buffer_in(arena), .rest = json_raw(value), .change = change};
}

/* Copies up to `piece`, a part of the rest, and skips it. */
static void replace(struct splice *splice, struct slice piece) {
    size_t before = (size_t)(piece.p - splice->rest.p);
    buffer_add(&splice->out, splice->rest.p, before);
    splice->rest = slice_skip(splice->rest, before + piece.n);
}

static struct slice splice_end(struct splice *splice) {
    buffer_add_slice(&splice->out, splice->rest);
    return buffer_slice(&splice->out);
}

static void change_links(struct splice *splice, struct json paging, bool is_nested) {
    for (struct json m = json_first(paging); json_is(m); m = json_next(m)) {
        struct slice link = json_inside(m);
        if (!link.p || !(json_is_named(m, "next") || json_is_named(m, "previous")) ||
            (is_nested && !link_has_token(link)))
            continue;
        replace(splice, link);
        link_add(&splice->out, link, splice->change);
    }
}

/* Changes the links within an object or array. The reader limits the depth of the recursion. */
static void change_within(struct splice *splice, struct json container, int depth) {
    bool is_object = json_type(container) == JSON_OBJECT;
    for (struct json m = json_first(container); json_is(m); m = json_next(m)) {
        if (is_object && json_type(m) == JSON_OBJECT && json_is_named(m, "paging"))
            change_links(splice, json_alone(m), depth > 0);
        else if (json_type(m) == JSON_OBJECT || json_type(m) == JSON_ARRAY)
            change_within(splice, json_alone(m), depth + 1);
    }
}

struct slice splice_paging(struct arena *arena, struct json answer,
                           const struct link_change *change) {
    struct splice splice = splice_start(arena, answer, change);
    change_within(&splice, answer, 0);
    return splice_end(&splice);
}

struct slice splice_media_url(struct arena *arena, struct json media, const char *url) {
    struct splice splice = splice_start(arena, media, NULL);
    for (struct json m = json_first(media); json_is(m); m = json_next(m)) {
        struct slice old = json_inside(m);
        if (!old.p || !json_is_named(m, "url"))
            continue;
        replace(&splice, old);
        buffer_add_text(&splice.out, url);
    }
    return splice_end(&splice);
}

/* --- members --- */

/* The name of the member; NULL: it is not replaced. */
static const char *replaced_name(const struct member_change *change, struct json member) {
    for (const char *const *name = change->names; *name; name++)
        if (json_is_named(member, *name))
            return *name;
    return NULL;
}

bool splice_has_members(struct json answer, const struct member_change *change) {
    const bool is_object = json_type(answer) == JSON_OBJECT;
    if (change->added)
        return true;
    for (struct json m = json_first(answer); json_is(m); m = json_next(m))
        if ((is_object && replaced_name(change, m)) || splice_has_members(json_alone(m), change))
            return true;
    return false;
}

/* Adds a member at the end of an object, all of which is copied then. */
static void add_member(struct splice *splice, struct json object, const char *name,
                       struct slice value) {
    const struct slice raw = json_raw(object);
    replace(splice, (struct slice){raw.p + raw.n - 1, 0}); /* before its bracket */
    buffer_printf(&splice->out, "%s\"%s\":", json_is(json_first(object)) ? "," : "", name);
    buffer_add_slice(&splice->out, value);
}

/* Replaces members within an object or array. `depth` counts containers: the answer has 0. */
static void change_members(struct splice *splice, struct json container,
                           const struct member_change *change, int depth, bool is_node) {
    const bool is_object = json_type(container) == JSON_OBJECT;
    const bool is_list = depth == 0 && json_type(json_get(container, "data")) == JSON_ARRAY;
    for (struct json m = json_first(container); json_is(m); m = json_next(m)) {
        const char *name = is_object ? replaced_name(change, m) : NULL;
        if (name) {
            replace(splice, json_raw(m));
            buffer_add_slice(&splice->out, change->make(change->context, container, name));
        } else if (json_type(m) == JSON_OBJECT || json_type(m) == JSON_ARRAY) {
            const bool is_data = is_list && json_is_named(m, "data");
            change_members(splice, json_alone(m), change, depth + 1,
                           is_data || (!is_object && is_node));
        }
    }
    if (is_object && is_node && !is_list && change->added &&
        !json_is(json_get(container, change->added)))
        add_member(splice, container, change->added,
                   change->make(change->context, container, change->added));
}

struct slice splice_members(struct arena *arena, struct json answer,
                            const struct member_change *change) {
    struct splice splice = splice_start(arena, answer, NULL);
    change_members(&splice, answer, change, 0, true);
    return splice_end(&splice);
}
