#include "graph/link.h"

#include <stdlib.h>

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

/* Cuts `text` off, in any case of its letters. Returns false, and leaves `link` as it is, when it
 * does not begin with it. */
static bool cut_text(struct slice *link, const char *text) {
    struct slice rest = *link;
    for (; *text; text++) {
        char c = '\0';
        if (rest.n)
            rest = slice_skip(rest, read_char(rest, &c));
        if (c != *text && (c | 0x20) != *text)
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
    if (!cut_text(&rest, "/v") || !cut_digits(&rest) || !cut_text(&rest, ".") || !cut_digits(&rest))
        return;
    if (!rest.n || (read_char(rest, &c) && (c == '/' || c == '?' || c == '#')))
        *link = rest;
}

/* Cuts scheme, host and version off. Returns false, and leaves `link` as it is, when it is not an
 * absolute link. */
static bool cut_base(struct slice *link) {
    if (!cut_text(link, "https://") && !cut_text(link, "http://"))
        return false;
    cut_before(link, "/?#");
    cut_version(link);
    return true;
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
