#include "exchange.h"

#include "faults.h"
#include "media.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct exchange *exchange_new(const char *target) {
    struct exchange *exchange = memory_new(sizeof *exchange);

    exchange->target = memory_text(target);
    return exchange;
}

/* Decodes percent escapes; an invalid one is kept unchanged. */
static char *decode_segment(const char *text, size_t length) {
    char *segment = memory_piece(text, length);

    MHD_http_unescape(segment);
    return segment;
}

static void split_path(struct exchange *exchange) {
    const char *at = exchange->path;

    while (*at == '/' && exchange->segment_count < SEGMENTS_MAX) {
        size_t length = strcspn(at + 1, "/");

        exchange->segments[exchange->segment_count++] = decode_segment(at + 1, length);
        at += 1 + length;
    }
}

void exchange_begin(struct exchange *exchange, struct MHD_Connection *connection,
                    const char *method) {
    char *question = strchr(exchange->target, '?');
    size_t length =
        question == NULL ? strlen(exchange->target) : (size_t)(question - exchange->target);

    exchange->connection = connection;
    exchange->method = memory_text(method);
    exchange->path = memory_piece(exchange->target, length);
    exchange->query = question == NULL ? "" : question + 1;
    exchange->control = strncmp(exchange->path, "/_sandbox/", 10) == 0;
    crypto_hash_sha256_init(&exchange->digest);
    split_path(exchange);
    exchange->stage = STAGE_READING;
}

void exchange_free(struct exchange *exchange) {
    free(exchange->target);
    free(exchange->method);
    free(exchange->path);
    for (size_t i = 0; i < exchange->segment_count; i++) {
        free(exchange->segments[i]);
    }
    bytes_release(&exchange->body);
    upload_free(exchange->upload);
    cJSON_Delete(exchange->json);
    fault_drop(exchange->fault);
    reply_clear(&exchange->reply);
    free(exchange);
}

void exchange_read(struct exchange *exchange, const char *data, size_t length) {
    exchange->body_length += length;
    crypto_hash_sha256_update(&exchange->digest, (const unsigned char *)data, length);
    if (exchange->upload != NULL) {
        upload_feed(exchange->upload, data, length);
    } else if (exchange->body_length <= BODY_MAX) {
        bytes_append(&exchange->body, data, length);
    }
}

const char *exchange_header(const struct exchange *exchange, const char *name) {
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

const char *exchange_parameter(const struct exchange *exchange, const char *name) {
    return MHD_lookup_connection_value(exchange->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *exchange_token(const struct exchange *exchange) {
    const char *value = exchange_header(exchange, "Authorization");

    if (value == NULL || strncasecmp(value, "Bearer ", 7) != 0) {
        return NULL;
    }
    return value + 7 + strspn(value + 7, " ");
}

const char *exchange_segment(const struct exchange *exchange, size_t i) {
    return i < exchange->segment_count ? exchange->segments[i] : "";
}

void reply_clear(struct reply *reply) {
    bytes_release(&reply->body);
    bytes_release(&reply->headers);
    if (reply->source.release != NULL) {
        reply->source.release(reply->source.state);
    }
    memset(reply, 0, sizeof *reply);
}

void reply_header(struct reply *reply, const char *name, const char *value) {
    bytes_format(&reply->headers, "%s: %s\n", name, value);
}
