#include "wire/request_body.h"

#include <stdlib.h>
#include <strings.h>

#include "text/strict_json.h"
#include "wire/multipart_stream.h"

enum { DEPTH_MAX = 16, FIELDS_MAX = 1000 /* further ones are ignored */ };

/* Returns the value of a hexadecimal digit, or -1. */
static int hex_digit(char c) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c == '\0' ? NULL : strchr(digits, c);
    return at ? (int)(at - digits) % 16 : -1;
}

/* Returns the text that `text` encodes in application/x-www-form-urlencoded. */
static const char *form_decode(struct arena *arena, struct slice text) {
    char *decoded = arena_copy(arena, text), *end = decoded;
    for (const char *at = decoded; *at != '\0'; at++) {
        int high = *at == '%' ? hex_digit(at[1]) : -1, low = high < 0 ? -1 : hex_digit(at[2]);
        *end++ = low >= 0 ? (char)(high * 16 + low) : *at == '+' ? ' ' : *at;
        at += low >= 0 ? 2 : 0;
    }
    *end = '\0';
    return decoded;
}

/* The keys of a name: "a[b][]" has the keys "a", "b" and "". */
struct keys {
    const char *key[DEPTH_MAX];
    size_t count;
};

/* Splits `name`. Returns false when it does not have that form. */
static bool split_name(struct arena *arena, const char *name, struct keys *keys) {
    size_t length = strcspn(name, "[");
    keys->key[0] = arena_copy(arena, (struct slice){name, length});
    keys->count = 1;
    for (name += length; *name == '['; name += length + 2) {
        length = strcspn(name + 1, "]");
        if (name[1 + length] != ']' || keys->count == DEPTH_MAX)
            return false;
        keys->key[keys->count++] = arena_copy(arena, (struct slice){name + 1, length});
    }
    return *name == '\0' && *keys->key[0] != '\0';
}

/* Whether the key is that of an array: digits, or nothing. */
static bool is_index(const char *key) {
    return strspn(key, "0123456789") == strlen(key);
}

static cJSON *child_find(const cJSON *parent, const char *key) {
    if (cJSON_IsObject(parent))
        return cJSON_GetObjectItemCaseSensitive(parent, key);
    return *key == '\0' ? NULL : cJSON_GetArrayItem(parent, (int)strtol(key, NULL, 10));
}

/* Adds `child` to `parent` below `key`, or deletes it when that is not possible. Returns the child,
 * or NULL. */
static cJSON *child_add(cJSON *parent, const char *key, cJSON *child) {
    bool next = cJSON_IsArray(parent) && is_index(key) &&
                (*key == '\0' || strtol(key, NULL, 10) == cJSON_GetArraySize(parent));
    bool added = cJSON_IsObject(parent) ? cJSON_AddItemToObject(parent, key, child)
                                        : next && cJSON_AddItemToArray(parent, child);
    if (added)
        return child;
    cJSON_Delete(child);
    return NULL;
}

/* Sets the member that `name` stands for to the string `value`: "a" is a member of `object`,
 * "a[b]" a member of its member `a`, "a[0]" an element of the array `a`, and "a[]" a further
 * element. A name that does not fit the members before it is ignored. */
static void form_field_put(struct arena *arena, cJSON *object, const char *name,
                           const char *value) {
    struct keys keys;
    cJSON *parent = object;
    if (!split_name(arena, name, &keys))
        return;
    for (size_t i = 0; parent && i + 1 < keys.count; i++) {
        cJSON *child = child_find(parent, keys.key[i]);
        parent = child ? child
                       : child_add(parent, keys.key[i],
                                   is_index(keys.key[i + 1]) ? cJSON_CreateArray()
                                                             : cJSON_CreateObject());
    }
    if (parent && !child_find(parent, keys.key[keys.count - 1]))
        child_add(parent, keys.key[keys.count - 1], cJSON_CreateString(value));
}

static bool is_type(const struct exchange *exchange, const char *type) {
    const char *given = exchange_header(exchange, "Content-Type");
    size_t length = strlen(type);
    return given && strncasecmp(given, type, length) == 0 && strchr("; \t", given[length]);
}

/* --- forms --- */

static void take_field(struct exchange *exchange, const char *name, const char *value) {
    if (exchange->field_count++ >= FIELDS_MAX)
        return;
    if (strcmp(name, "access_token") == 0)
        exchange->form_token = value;
    else
        form_field_put(exchange->arena, exchange->json, name, value);
}

static void read_urlencoded(struct exchange *exchange) {
    for (struct slice rest = exchange_body(exchange); rest.n > 0;) {
        struct slice value = slice_cut(&rest, '&');
        struct slice name = slice_cut(&value, '=');
        if (name.n > 0)
            take_field(exchange, form_decode(exchange->arena, name),
                       form_decode(exchange->arena, value));
    }
}

/* A part of a multipart form while it is read. */
struct part {
    struct exchange *exchange;
    const char *name; /* NULL: it has none, and is ignored */
    struct buffer text;
};

static void part_begin(void *cls, const char *headers) {
    struct part *part = cls;
    struct arena *arena = part->exchange->arena;
    const char *disposition = part_header(arena, headers, "Content-Disposition");
    part->name = header_parameter(arena, disposition, "name");
    part->text.n = 0;
}

static void part_data(void *cls, struct slice piece) {
    struct part *part = cls;
    buffer_add_slice(&part->text, piece);
}

static void part_end(void *cls) {
    struct part *part = cls;
    struct arena *arena = part->exchange->arena;
    if (part->name)
        take_field(part->exchange, part->name, arena_copy(arena, buffer_slice(&part->text)));
}

static void read_multipart(struct exchange *exchange) {
    static const struct multipart_events events = {part_begin, part_data, part_end};
    struct part part = {.exchange = exchange, .text = buffer_in(exchange->arena)};
    struct multipart multipart;
    multipart_start(&multipart, exchange->arena, exchange_header(exchange, "Content-Type"), &events,
                    &part);
    multipart_feed(&multipart, exchange_body(exchange));
}

/* --- the query --- */

static enum MHD_Result take_parameter(void *cls, enum MHD_ValueKind kind, const char *name,
                                      const char *value) {
    struct exchange *exchange = cls;
    (void)kind;
    if (value && strcmp(name, "access_token") != 0 && exchange->field_count++ < FIELDS_MAX &&
        !cJSON_GetObjectItemCaseSensitive(exchange->json, name))
        form_field_put(exchange->arena, exchange->json, name, value);
    return MHD_YES;
}

static void add_query(struct exchange *exchange) {
    if (strcmp(exchange->method, "GET") == 0 || strcmp(exchange->method, "HEAD") == 0)
        return;
    MHD_get_connection_values(exchange->connection, MHD_GET_ARGUMENT_KIND, take_parameter,
                              exchange);
}

void request_body_read(struct exchange *exchange) {
    struct slice body = exchange_body(exchange);
    bool urlencoded = is_type(exchange, "application/x-www-form-urlencoded");
    exchange->form = urlencoded || is_type(exchange, "multipart/form-data");
    if (body.n > 0 && is_type(exchange, "application/json")) {
        exchange->json = json_parse(body);
    } else {
        exchange->json = cJSON_CreateObject();
        if (urlencoded)
            read_urlencoded(exchange);
        else if (exchange->form)
            read_multipart(exchange);
    }
    if (cJSON_IsObject(exchange->json))
        add_query(exchange);
}
