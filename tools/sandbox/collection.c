#include "collection.h"

#include "graph_error.h"
#include "server.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_DEFAULT = 25, CURSOR_BYTES = 8 + crypto_shorthash_BYTES };

struct slice item_slice(const struct item *item) {
    return (struct slice){item->raw, item->length};
}

static char *item_add(struct collection *collection, const char *waba_id, struct slice raw) {
    char *id = json_member_text(raw, "id");
    struct item *item;

    if (id == NULL) {
        return memory_text("every item needs an id, a string");
    }
    if (collection->count == collection->capacity) {
        collection->capacity = collection->capacity == 0 ? 64 : collection->capacity * 2;
        collection->items =
            realloc(collection->items, collection->capacity * sizeof *collection->items);
        if (collection->items == NULL) {
            abort();
        }
    }
    item = &collection->items[collection->count++];
    item->serial = ++collection->last_serial;
    item->waba_id = memory_text(waba_id);
    item->id = id;
    item->raw = memory_piece(raw.text, raw.length);
    item->length = raw.length;
    return NULL;
}

char *collection_add(struct collection *collection, const char *waba_id, struct slice items) {
    struct slice raw;
    size_t cursor = 0;
    char *problem = NULL;

    while (problem == NULL && json_element(items, &cursor, &raw)) {
        problem = item_add(collection, waba_id, raw);
    }
    return problem;
}

static void item_free(struct item *item) {
    free(item->waba_id);
    free(item->id);
    free(item->raw);
}

void collection_clear(struct collection *collection, const char *waba_id) {
    size_t kept = 0;

    for (size_t i = 0; i < collection->count; i++) {
        if (waba_id == NULL || strcmp(collection->items[i].waba_id, waba_id) == 0) {
            item_free(&collection->items[i]);
        } else {
            collection->items[kept++] = collection->items[i];
        }
    }
    collection->count = kept;
    if (kept == 0) {
        free(collection->items);
        collection->items = NULL;
        collection->capacity = 0;
    }
}

struct generation {
    uint64_t count;
    uint64_t start;
    char *prefix;
};

static const struct json_field generation_fields[] = {
    {"count", JSON_NUMBER, offsetof(struct generation, count)},
    {"start", JSON_NUMBER, offsetof(struct generation, start)},
    {"prefix", JSON_TEXT, offsetof(struct generation, prefix)},
    {NULL, JSON_ELSEWHERE, 0},
};

static char *collection_generate(struct collection *collection, const char *waba_id,
                                 const cJSON *generate,
                                 void (*make)(struct bytes *, const char *, uint64_t)) {
    struct generation generation = {.start = 1};
    char *problem = json_fill(&generation, generation_fields, generate);

    for (uint64_t i = 0; problem == NULL && i < generation.count; i++) {
        struct bytes raw = {0};

        make(&raw, generation.prefix == NULL ? "bulk_" : generation.prefix, generation.start + i);
        problem = item_add(collection, waba_id, (struct slice){raw.data, raw.length});
        bytes_release(&raw);
    }
    json_fields_release(&generation, generation_fields);
    return problem;
}

char *collection_put(struct collection *collection, struct slice call,
                     void (*make)(struct bytes *out, const char *prefix, uint64_t i)) {
    cJSON *json = cJSON_ParseWithLength(call.text, call.length);
    const char *waba_id = json_text(json, "wabaId");
    const cJSON *generate = cJSON_GetObjectItemCaseSensitive(json, "generate");
    struct slice items;
    char *problem = NULL;

    if (waba_id == NULL || account_by_waba(waba_id) == NULL) {
        cJSON_Delete(json);
        return memory_text("wabaId of a known account is needed");
    }
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "replace"))) {
        collection_clear(collection, waba_id);
    }
    if (json_member(call, "items", &items)) {
        problem = collection_add(collection, waba_id, items);
    }
    if (problem == NULL && generate != NULL) {
        problem = collection_generate(collection, waba_id, generate, make);
    }
    cJSON_Delete(json);
    return problem;
}

const struct item *collection_find(const struct collection *collection, const char *id) {
    for (size_t i = 0; i < collection->count; i++) {
        if (strcmp(collection->items[i].id, id) == 0) {
            return &collection->items[i];
        }
    }
    return NULL;
}

const struct account *collection_owner(const struct collection *collection, const char *id) {
    const struct item *item = collection_find(collection, id);

    return item == NULL ? NULL : account_by_waba(item->waba_id);
}

/* Signs cursors. The key is random, so only cursors of this run of the sandbox are valid. */
static unsigned char cursor_key[crypto_shorthash_KEYBYTES];

static void cursor_key_make(void) {
    randombytes_buf(cursor_key, sizeof cursor_key);
}

static void cursor_key_ready(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, cursor_key_make);
}

static void cursor_seal(unsigned char out[CURSOR_BYTES], uint64_t serial) {
    cursor_key_ready();
    for (int i = 0; i < 8; i++) {
        out[i] = (unsigned char)(serial >> (8 * i)) ^ cursor_key[i];
    }
    crypto_shorthash(out + 8, out, 8, cursor_key);
}

static char *cursor_write(uint64_t serial) {
    unsigned char cursor[CURSOR_BYTES];
    char *text = memory_new(64);

    cursor_seal(cursor, serial);
    memcpy(text, "QVFI", 4);
    sodium_bin2base64(text + 4, 60, cursor, sizeof cursor,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return text;
}

static bool cursor_read(const char *text, uint64_t *serial) {
    unsigned char cursor[CURSOR_BYTES];
    unsigned char right[CURSOR_BYTES];
    size_t length;

    if (strncmp(text, "QVFI", 4) != 0 ||
        sodium_base642bin(cursor, sizeof cursor, text + 4, strlen(text + 4), NULL, &length, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        length != sizeof cursor) {
        return false;
    }
    cursor_key_ready();
    *serial = 0;
    for (int i = 0; i < 8; i++) {
        *serial |= (uint64_t)(cursor[i] ^ cursor_key[i]) << (8 * i);
    }
    cursor_seal(right, *serial);
    return memcmp(cursor, right, sizeof cursor) == 0;
}

/* The page that the query asks for. */
struct page {
    uint64_t limit;
    uint64_t after;  /* serial, 0 = from the start */
    uint64_t before; /* serial, 0 = up to the end */
    size_t count;
    bool more_before;
    bool more_after;
};

static bool page_cursor(struct exchange *exchange, const char *name, uint64_t *serial) {
    const char *text = exchange_parameter(exchange, name);

    if (text == NULL || *text == '\0' || cursor_read(text, serial)) {
        return true;
    }
    reply_error(exchange, 100, "(#100) Invalid cursors values");
    return false;
}

static bool page_read(struct exchange *exchange, const struct page_rules *rules,
                      struct page *page) {
    const char *limit = exchange_parameter(exchange, "limit");
    char *end = NULL;

    page->limit = LIMIT_DEFAULT;
    if (limit != NULL && *limit != '\0') {
        page->limit = strtoull(limit, &end, 10);
        if (*end != '\0' || strspn(limit, "0123456789") != strlen(limit)) {
            reply_error(exchange, 100, "(#100) Param limit must be a positive integer.");
            return false;
        }
    }
    if (rules->cap > 0 && page->limit > rules->cap) {
        if (!rules->silent) {
            reply_error_as(exchange, 1, 0, NULL, NULL);
            return false;
        }
        page->limit = rules->cap;
    }
    return page_cursor(exchange, "after", &page->after) &&
           page_cursor(exchange, "before", &page->before);
}

static bool item_wanted(const struct exchange *exchange, const struct item *item,
                        const struct account *account, const struct page_rules *rules) {
    return strcmp(item->waba_id, account->waba_id) == 0 &&
           (rules->wanted == NULL || rules->wanted(exchange, item_slice(item)));
}

/* Collects the page's items into `found`; a `before` page is the last `limit` ones before it. */
static void page_find(const struct exchange *exchange, const struct collection *collection,
                      const struct account *account, const struct page_rules *rules,
                      struct page *page, const struct item **found) {
    bool backwards = page->before != 0 && page->after == 0;

    for (size_t step = 0; step < collection->count; step++) {
        size_t i = backwards ? collection->count - 1 - step : step;
        const struct item *item = &collection->items[i];

        if (!item_wanted(exchange, item, account, rules)) {
            continue;
        }
        if (item->serial <= page->after) {
            page->more_before = true;
        } else if (page->before != 0 && item->serial >= page->before) {
            page->more_after = true;
        } else if (page->count < page->limit) {
            found[page->count++] = item;
        } else if (backwards) {
            page->more_before = true;
        } else {
            page->more_after = true;
        }
    }
    for (size_t i = 0; backwards && i < page->count / 2; i++) {
        const struct item *kept = found[i];

        found[i] = found[page->count - 1 - i];
        found[page->count - 1 - i] = kept;
    }
}

static bool field_listed(const char *fields, const char *name, size_t length) {
    while (fields != NULL) {
        if (strncmp(fields, name, length) == 0 &&
            (fields[length] == ',' || fields[length] == '\0')) {
            return true;
        }
        fields = strchr(fields, ',');
        fields = fields == NULL ? NULL : fields + 1;
    }
    return false;
}

static void print_member(struct bytes *out, struct slice item, const char *name, size_t length,
                         const char **comma) {
    char *text = memory_piece(name, length);
    struct slice value;

    if (json_member(item, text, &value)) {
        bytes_format(out, "%s\"%s\":", *comma, text);
        bytes_append(out, value.text, value.length);
        *comma = ",";
    }
    free(text);
}

/* If the query has no fields, the item is printed with its default fields, or whole if there are
 * none. The id is always included. */
void item_print(struct exchange *exchange, const struct collection *collection,
                const struct item *item) {
    const char *fields = exchange_parameter(exchange, "fields");
    struct bytes *out = &exchange->reply.body;
    const char *comma = "";

    if (fields == NULL || *fields == '\0') {
        fields = collection->default_fields;
    }
    if (fields == NULL) {
        bytes_append(out, item->raw, item->length);
        return;
    }
    bytes_text(out, "{");
    if (!field_listed(fields, "id", 2)) {
        print_member(out, item_slice(item), "id", 2, &comma);
    }
    while (fields != NULL) {
        size_t length = strcspn(fields, ",");

        print_member(out, item_slice(item), fields, length, &comma);
        fields = fields[length] == ',' ? fields + length + 1 : NULL;
    }
    bytes_text(out, "}");
}

/* Prints the URL of the next or the previous page: the same query with another cursor. */
static void print_link(struct exchange *exchange, const char *name, const char *direction,
                       const char *cursor, uint64_t limit) {
    const char *host = exchange_header(exchange, "Host");
    struct bytes url = {0};
    char *query = memory_text(exchange->query);
    char *rest = query;
    char *piece;

    bytes_format(&url, "http://%s%s?limit=%llu&%s=%s", host == NULL ? "127.0.0.1" : host,
                 exchange->path, (unsigned long long)limit, direction, cursor);
    while ((piece = strsep(&rest, "&")) != NULL) {
        size_t length = strcspn(piece, "=");

        if (length > 0 && !field_listed("limit,after,before,access_token", piece, length)) {
            bytes_format(&url, "&%s", piece);
        }
    }
    if (settings.paging_token) {
        bytes_format(&url, "&access_token=%s", exchange_token(exchange));
    }
    bytes_format(&exchange->reply.body, ",\"%s\":", name);
    json_quote(&exchange->reply.body, url.data, url.length);
    bytes_release(&url);
    free(query);
}

static void print_paging(struct exchange *exchange, const struct page *page,
                         const struct item **found) {
    char *before = cursor_write(found[0]->serial);
    char *after = cursor_write(found[page->count - 1]->serial);

    bytes_format(&exchange->reply.body,
                 ",\"paging\":{\"cursors\":{\"before\":\"%s\",\"after\":\"%s\"}", before, after);
    if (page->more_after) {
        print_link(exchange, "next", "after", after, page->limit);
    }
    if (page->more_before) {
        print_link(exchange, "previous", "before", before, page->limit);
    }
    bytes_text(&exchange->reply.body, "}");
    free(before);
    free(after);
}

void collection_page(struct exchange *exchange, const struct collection *collection,
                     const struct account *account, const struct page_rules *rules) {
    struct page page = {0};
    struct bytes *out = &exchange->reply.body;
    const struct item **found;

    if (!page_read(exchange, rules, &page)) {
        return;
    }
    found = memory_new((collection->count + 1) * sizeof *found);
    page_find(exchange, collection, account, rules, &page, found);
    bytes_text(out, "{\"data\":[");
    for (size_t i = 0; i < page.count; i++) {
        bytes_text(out, i == 0 ? "" : ",");
        item_print(exchange, collection, found[i]);
    }
    bytes_text(out, "]");
    if (page.count > 0) {
        print_paging(exchange, &page, found);
    }
    bytes_text(out, "}");
    free(found);
}
