#include "wire/request_body.h"

#include <strings.h>

#include "text/strict_json.h"
#include "wire/form_field.h"
#include "wire/multipart_stream.h"

enum { FIELDS_MAX = 1000 }; /* further ones are ignored */

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
