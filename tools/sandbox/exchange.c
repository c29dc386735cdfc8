#include "exchange.h"

#include <strings.h>

#include "memory.h"

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

/* Splits the path and decodes the percent escapes of each segment; an invalid one is kept. */
static void split_path(struct exchange *exchange) {
    const char *at = exchange->path;
    while (*at == '/' && exchange->segment_count < SEGMENTS_MAX) {
        size_t length = strcspn(at + 1, "/");
        char *segment = arena_copy(exchange->arena, (struct slice){at + 1, length});
        MHD_http_unescape(segment);
        exchange->segments[exchange->segment_count++] = segment;
        at += 1 + length;
    }
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

const char *exchange_token(const struct exchange *exchange) {
    const char *value = exchange_header(exchange, "Authorization");
    if (!value || strncasecmp(value, "Bearer ", 7) != 0)
        return NULL;
    return value + 7 + strspn(value + 7, " ");
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
