#include "state/list_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "state/cursor.h"
#include "state/sandbox.h"
#include "state/settings.h"
#include "text/json_print.h"
#include "text/strict_json.h"
#include "text/text.h"
#include "wire/graph_error.h"

enum { LIMIT_DEFAULT = 25 };

/* The page that the query selects. */
struct page {
    int64_t limit;
    int64_t after;  /* serial, 0 = from the start */
    int64_t before; /* serial, 0 = up to the end */
    const struct item **items;
    size_t count;
    bool more_before;
    bool more_after;
};

static bool read_cursor(struct exchange *exchange, const char *name, int64_t *serial) {
    const char *text = exchange_parameter(exchange, name);
    if (!text || *text == '\0' || cursor_read(text, serial))
        return true;
    reply_error(exchange, 100, "(#100) Invalid cursors values");
    return false;
}

static bool read_limit(struct exchange *exchange, int64_t *limit) {
    const char *text = exchange_parameter(exchange, "limit");
    *limit = LIMIT_DEFAULT;
    if (!text || *text == '\0')
        return true;
    if (strspn(text, "0123456789") != strlen(text)) {
        reply_error(exchange, 100, "(#100) Param limit must be a positive integer.");
        return false;
    }
    *limit = strtoll(text, NULL, 10);
    return true;
}

static bool read_page(struct exchange *exchange, const struct page_rules *rules,
                      struct page *page) {
    if (!read_limit(exchange, &page->limit))
        return false;
    if (rules->cap > 0 && page->limit > rules->cap) {
        if (!rules->silent) {
            reply_error_as(exchange, 1, 0, NULL, NULL);
            return false;
        }
        page->limit = rules->cap;
    }
    return read_cursor(exchange, "after", &page->after) &&
           read_cursor(exchange, "before", &page->before);
}

static bool is_wanted(const struct exchange *exchange, const struct item *item, const char *owner,
                      const struct page_rules *rules) {
    return strcmp(item->owner, owner) == 0 &&
           (!rules->wanted || rules->wanted(exchange, item->raw));
}

/* Offers the page its next item, in the order of the search. */
static void page_offer(struct page *page, const struct item *item, bool backwards) {
    if (item->serial <= page->after)
        page->more_before = true;
    else if (page->before != 0 && item->serial >= page->before)
        page->more_after = true;
    else if ((int64_t)page->count < page->limit)
        page->items[page->count++] = item;
    else if (backwards)
        page->more_before = true;
    else
        page->more_after = true;
}

static void page_reverse(struct page *page) {
    for (size_t i = 0; i < page->count / 2; i++) {
        const struct item *kept = page->items[i];
        page->items[i] = page->items[page->count - 1 - i];
        page->items[page->count - 1 - i] = kept;
    }
}

/* Collects the items of the page; a `before` page is the last `limit` ones before that item. */
static void page_find(const struct exchange *exchange, const struct collection *collection,
                      const char *owner, const struct page_rules *rules, struct page *page) {
    bool backwards = page->before != 0 && page->after == 0;
    page->items = arena_alloc(exchange->arena, collection->count * sizeof *page->items);
    for (size_t step = 0; step < collection->count; step++) {
        size_t i = backwards ? collection->count - 1 - step : step;
        if (is_wanted(exchange, &collection->items[i], owner, rules))
            page_offer(page, &collection->items[i], backwards);
    }
    if (backwards)
        page_reverse(page);
}

bool list_item(struct exchange *exchange, const struct item *item, const struct page_rules *rules) {
    struct slice whole = rules->whole ? rules->whole(exchange, item) : item->raw;
    return fields_print(exchange, whole, rules->shape, fields_chosen(exchange));
}

/* Prints the URL of the next or the previous page: the same query with another cursor. */
static void print_link(struct exchange *exchange, const char *name, const char *direction,
                       const char *cursor, int64_t limit) {
    const char *origin = sandbox_origin(exchange->arena, exchange_header(exchange, "Host"));
    struct buffer url = buffer_in(exchange->arena);
    buffer_printf(&url, "%s%s?", origin, exchange->path);
    if (settings.paging_token) {
        buffer_add_text(&url, "access_token=");
        url_encode(&url, exchange_token(exchange));
        buffer_add_char(&url, '&');
    }
    buffer_printf(&url, "limit=%" PRId64 "&%s=%s", limit, direction, cursor);
    for (struct slice rest = slice_of(exchange->query); rest.n > 0;) {
        struct slice piece = slice_cut(&rest, '&');
        struct slice value = piece;
        struct slice key = slice_cut(&value, '=');
        if (key.n > 0 && !slice_has_word(SLICE("limit,after,before,access_token"), ',', key)) {
            buffer_add_char(&url, '&');
            buffer_add_slice(&url, piece);
        }
    }
    buffer_printf(&exchange->reply.body, ",\"%s\":", name);
    json_quote(&exchange->reply.body, buffer_slice(&url));
}

static void print_paging(struct exchange *exchange, const struct page *page) {
    const char *before = cursor_write(exchange->arena, page->items[0]->serial);
    const char *after = cursor_write(exchange->arena, page->items[page->count - 1]->serial);
    buffer_printf(&exchange->reply.body,
                  ",\"paging\":{\"cursors\":{\"before\":\"%s\",\"after\":\"%s\"}", before, after);
    if (page->more_after)
        print_link(exchange, "next", "after", after, page->limit);
    if (page->more_before)
        print_link(exchange, "previous", "before", before, page->limit);
    buffer_add_text(&exchange->reply.body, "}");
}

static void print_page(struct exchange *exchange, const struct page *page,
                       const struct page_rules *rules) {
    struct buffer *out = &exchange->reply.body;
    buffer_add_text(out, "{\"data\":[");
    for (size_t i = 0; i < page->count; i++) {
        buffer_add_text(out, i == 0 ? "" : ",");
        if (!list_item(exchange, page->items[i], rules))
            return;
    }
    buffer_add_text(out, "]");
    if (page->count > 0)
        print_paging(exchange, page);
    buffer_add_text(out, "}");
}

void list_page(struct exchange *exchange, const struct collection *collection, const char *owner,
               const struct page_rules *rules) {
    struct page page = {0};
    if (!read_page(exchange, rules, &page))
        return;
    page_find(exchange, collection, owner, rules, &page);
    print_page(exchange, &page, rules);
}
