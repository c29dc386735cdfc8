#include "state/media_url.h"

#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "state/access_token.h"
#include "state/sandbox.h"
#include "state/settings.h"
#include "text/json_print.h"
#include "text/text.h"
#include "wire/graph_error.h"
#include "wire/node_fields.h"

#define DOWNLOAD_PATH "/whatsapp_business/attachments/"

static int64_t url_epoch; /* part of the signature: a new one makes all older URLs invalid */

static unsigned char url_key[crypto_generichash_KEYBYTES];

static void url_key_make(void) {
    crypto_generichash_keygen(url_key);
}

/* Returns the signature of a URL, over id, expiry and epoch, in `arena`. */
static const char *url_hash(struct arena *arena, const char *id, const char *expiry) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned char hash[crypto_generichash_BYTES_MIN];
    char *encoded = arena_alloc(arena, sizeof hash * 2);
    struct slice text = slice_of(arena_printf(arena, "%s %s %" PRId64, id, expiry, url_epoch));
    pthread_once(&once, url_key_make);
    crypto_generichash(hash, sizeof hash, slice_octets(text), text.n, url_key, sizeof url_key);
    return sodium_bin2base64(encoded, sizeof hash * 2, hash, sizeof hash,
                             sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* `origin` is that of sandbox_origin. */
static const char *media_url(struct arena *arena, const char *origin, const struct media *media) {
    const char *expiry =
        arena_printf(arena, "%" PRId64, clock_now() / 1000 + settings.media_url_seconds);
    return arena_printf(arena, "%s" DOWNLOAD_PATH "?mid=%s&ext=%s&hash=%s", origin, media->id,
                        expiry, url_hash(arena, media->id, expiry));
}

const char *media_webhook_url(struct arena *arena, const struct media *media, const char *id) {
    const char *origin = sandbox_origin(arena, NULL);
    return media ? media_url(arena, origin, media)
                 : arena_printf(arena, "%s" DOWNLOAD_PATH "?mid=%s", origin, id);
}

void media_expire_urls(void) {
    url_epoch++;
}

void media_show(struct exchange *exchange, const struct target *target) {
    static const struct node_shape shape = {.type = "WhatsAppMedia"};
    const struct media *media = media_find(target->id);
    const char *origin = sandbox_origin(exchange->arena, exchange_header(exchange, "Host"));
    struct buffer whole = buffer_in(exchange->arena), *out = &whole;
    const char *quote = settings.media_size_text ? "\"" : "";
    if (!text_matches(media->phone_id, exchange_parameter(exchange, "phone_number_id"))) {
        reply_unknown_object(exchange, target->id);
        return;
    }
    buffer_add_text(out, "{\"messaging_product\":\"whatsapp\",\"url\":");
    json_quote_text(out, media_url(exchange->arena, origin, media));
    buffer_add_text(out, ",\"mime_type\":");
    json_quote_text(out, media->mime);
    buffer_printf(out, ",\"sha256\":\"%s\",\"file_size\":%s%" PRId64 "%s,\"id\":\"%s\"}",
                  media->sha256, quote, media->size, quote, media->id);
    fields_print(exchange, buffer_slice(&whole), &shape, fields_chosen(exchange));
}

bool media_is_download(const char *path) {
    return strcmp(path, DOWNLOAD_PATH) == 0;
}

/* Returns the media of a URL; NULL when the URL has expired or is not of the token's account. */
static const struct media *media_by_url(const struct exchange *exchange) {
    const char *id = exchange_parameter(exchange, "mid");
    const char *expiry = exchange_parameter(exchange, "ext");
    const char *hash = exchange_parameter(exchange, "hash");
    const char *token = exchange_token(exchange);
    const struct media *media = id ? media_find(id) : NULL;
    if (!media || !expiry || !hash || !token || token_check(token) != TOKEN_VALID ||
        strcmp(account_by_waba(media->waba_id)->token, token) != 0 ||
        strcmp(url_hash(exchange->arena, id, expiry), hash) != 0 ||
        strtoll(expiry, NULL, 10) < clock_now() / 1000)
        return NULL;
    return media;
}

enum range { RANGE_NONE, RANGE_PART, RANGE_WRONG };

/* Reads one byte range (RFC 9110 14.1.2). Several ranges count as none: the answer is the whole. */
static enum range range_read(const char *text, int64_t size, int64_t *from, int64_t *to) {
    int64_t a, b;
    int length = 0;
    *from = 0;
    *to = size - 1;
    if (!text || strncmp(text, "bytes=", 6) != 0 || strchr(text, ','))
        return RANGE_NONE;
    text += 6;
    if (*text == '-' && sscanf(text, "-%" SCNd64 "%n", &b, &length) == 1 && b >= 0 &&
        text[length] == '\0') {
        *from = b > size ? 0 : size - b;
        return b == 0 || size == 0 ? RANGE_WRONG : RANGE_PART;
    }
    if (sscanf(text, "%" SCNd64 "-%n", &a, &length) != 1 || length == 0)
        return RANGE_NONE;
    if (text[length] != '\0') {
        if (sscanf(text + length, "%" SCNd64, &b) != 1 || b < a)
            return RANGE_NONE;
        *to = b < *to ? b : *to;
    }
    *from = a;
    return a >= 0 && a < size ? RANGE_PART : RANGE_WRONG;
}

static void send_media(struct exchange *exchange, const struct media *media) {
    struct reply *reply = &exchange->reply;
    int64_t from, to;
    enum range range = range_read(exchange_header(exchange, "Range"), media->size, &from, &to);
    reply_header(reply, "Accept-Ranges", "bytes");
    reply->unsized = media->unsized;
    if (range == RANGE_WRONG) {
        reply->status = 416;
        buffer_printf(&reply->headers, "Content-Range: bytes */%" PRId64 "\n", media->size);
        return;
    }
    if (range == RANGE_PART) {
        reply->status = 206;
        buffer_printf(&reply->headers, "Content-Range: bytes %" PRId64 "-%" PRId64 "/%" PRId64 "\n",
                      from, to, media->size);
    }
    if (!media_open(reply->arena, media, from, to - from + 1, &reply->source))
        reply->status = 500;
}

void media_download(struct exchange *exchange) {
    static const char page[] = "<!DOCTYPE html>\n<html><head><title>Error</title></head>"
                               "<body>Sorry, something went wrong.</body></html>\n";
    const struct media *media = media_by_url(exchange);
    struct reply *reply = &exchange->reply;
    if (!exchange_header(exchange, "User-Agent")) {
        reply->status = 400;
        reply->type = "text/html; charset=utf-8";
        buffer_add_text(&reply->body, page);
    } else if (!media) {
        reply->status = 404;
        reply->type = "text/plain";
        buffer_add_text(&reply->body, "URL signature expired");
    } else {
        reply->type = NULL;
        reply_header(reply, "Content-Type", media->mime);
        send_media(exchange, media);
    }
}
