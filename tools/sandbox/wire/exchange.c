#include "wire/exchange.h"

#include <strings.h>

#include "text/memory.h"

struct exchange *exchange_new(const char *target) {
    struct arena *arena = memory_open();
    struct exchange *exchange = arena_alloc(arena, sizeof *exchange);
    exchange->arena = arena;
    exchange->target = arena_copy(arena, slice_of(target));
    exchange->body = buffer_in(arena);
    exchange->reply.arena = memory_open();
    reply_clear(&exchange->reply);
    return exchange;
}

/* Whether a path can begin with this segment without a version before it: an id, or a node that has
 * a name. */
static bool is_node(const char *segment) {
    static const char *const names[] = {"me", "app", "debug_token", "oauth"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], segment) == 0)
            return true;
    return strchr(segment, ':') ||
           (*segment != '\0' && strspn(segment, "0123456789") == strlen(segment));
}

/* Puts an empty segment where the version is missing. */
static void insert_version(struct exchange *exchange) {
    exchange->segment_count -= exchange->segment_count == SEGMENTS_MAX;
    memmove(exchange->segments + 1, exchange->segments,
            exchange->segment_count++ * sizeof *exchange->segments);
    exchange->segments[0] = "";
}

/* Splits the path and decodes the percent escapes of each segment; an invalid one is kept. Slashes
 * at the end are dropped. */
static void split_path(struct exchange *exchange) {
    const char *at = exchange->path;
    while (*at == '/' && exchange->segment_count < SEGMENTS_MAX) {
        size_t length = strcspn(at + 1, "/");
        char *segment = arena_copy(exchange->arena, (struct slice){at + 1, length});
        MHD_http_unescape(segment);
        exchange->segments[exchange->segment_count++] = segment;
        at += 1 + length;
    }
    while (exchange->segment_count > 0 && *exchange->segments[exchange->segment_count - 1] == '\0')
        exchange->segment_count--;
    if (exchange->segment_count > 0 && is_node(exchange->segments[0]))
        insert_version(exchange);
}

void exchange_begin(struct exchange *exchange, struct MHD_Connection *connection,
                    const char *method) {
    size_t length = strcspn(exchange->target, "?");
    exchange->connection = connection;
    exchange->method = arena_copy(exchange->arena, slice_of(method));
    exchange->path = arena_copy(exchange->arena, (struct slice){exchange->target, length});
    exchange->query = exchange->target[length] ? exchange->target + length + 1 : "";
    exchange->control = strncmp(exchange->path, "/_sandbox/", 10) == 0;
    exchange->digest = crypto_sha256_start(exchange->arena);
    split_path(exchange);
    exchange->stage = STAGE_READING;
}

void exchange_free(struct exchange *exchange) {
    cJSON_Delete(exchange->json);
    if (exchange->reply.source.release)
        exchange->reply.source.release(exchange->reply.source.state);
    memory_close(exchange->reply.arena);
    memory_close(exchange->arena);
}

void exchange_count(struct exchange *exchange, struct slice piece) {
    exchange->body_length += (int64_t)piece.n;
    if (!exchange->recorded) /* the record ends the digest */
        crypto_sha256_add(exchange->digest, piece);
}

void exchange_store(struct exchange *exchange, struct slice piece) {
    if (exchange->body_length <= BODY_MAX)
        buffer_add_slice(&exchange->body, piece);
}

struct slice exchange_body(const struct exchange *exchange) {
    return buffer_slice(&exchange->body);
}

const char *exchange_header(const struct exchange *exchange, const char *name) {
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

const char *exchange_parameter(const struct exchange *exchange, const char *name) {
    return MHD_lookup_connection_value(exchange->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* Returns the token of the header Authorization, or NULL. */
static const char *header_token(const struct exchange *exchange) {
    static const struct slice schemes[] = {{"Bearer ", 7}, {"OAuth ", 6}};
    const char *value = exchange_header(exchange, "Authorization");
    for (size_t i = 0; value && i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(value, schemes[i].p, schemes[i].n) == 0)
            return value + schemes[i].n + strspn(value + schemes[i].n, " ");
    return NULL;
}

/* Returns the token of the query, or NULL. */
static const char *query_token(const struct exchange *exchange) {
    const char *value = exchange_parameter(exchange, "access_token");
    return value && *value != '\0' ? value : NULL;
}

const char *exchange_token(const struct exchange *exchange) {
    const char *header = header_token(exchange), *query = query_token(exchange);
    return header ? header : query ? query : exchange->form_token;
}

bool exchange_tokens_differ(const struct exchange *exchange) {
    const char *token = exchange_token(exchange), *query = query_token(exchange);
    return token && ((query && strcmp(query, token) != 0) ||
                     (exchange->form_token && strcmp(exchange->form_token, token) != 0));
}

const char *exchange_segment(const struct exchange *exchange, size_t i) {
    return i < exchange->segment_count ? exchange->segments[i] : "";
}

void reply_clear(struct reply *reply) {
    if (reply->source.release)
        reply->source.release(reply->source.state);
    *reply = (struct reply){
        .arena = reply->arena, .body = buffer_in(reply->arena), .headers = buffer_in(reply->arena)};
}

void reply_header(struct reply *reply, const char *name, const char *value) {
    buffer_printf(&reply->headers, "%s: %s\n", name, value);
}
