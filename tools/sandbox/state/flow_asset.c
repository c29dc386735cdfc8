#include "state/flow_asset.h"

#include <pthread.h>
#include <sodium.h>

#include "state/collection.h"
#include "state/cursor.h"
#include "state/sandbox.h"
#include "text/json_print.h"

#define ASSET_PATH "/flow_assets/"

enum { FLOW_JSON_MAX = 10 << 20, ALL_MAX = 256 << 20 };

struct collection flow_assets;

/* The key is random, so only URLs of this run of the sandbox are valid. */
static unsigned char asset_key[crypto_generichash_KEYBYTES];

static void asset_key_make(void) {
    crypto_generichash_keygen(asset_key);
}

static const char *asset_hash(struct arena *arena, const char *flow) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned char hash[crypto_generichash_BYTES_MIN];
    struct slice text = slice_of(flow);
    pthread_once(&once, asset_key_make);
    crypto_generichash(hash, sizeof hash, slice_octets(text), text.n, asset_key, sizeof asset_key);
    return crypto_hex(arena, hash, sizeof hash);
}

bool flow_asset_fits(size_t bytes) {
    size_t all = bytes;
    for (size_t i = 0; i < flow_assets.count; i++)
        all += flow_assets.items[i].raw.n;
    return bytes <= FLOW_JSON_MAX && all <= ALL_MAX;
}

void flow_asset_put(const char *flow, struct slice bytes) {
    if (collection_find(&flow_assets, flow))
        collection_replace(&flow_assets, flow, bytes);
    else
        collection_insert(&flow_assets, flow, flow, bytes);
}

void flow_asset_copy(const char *from, const char *to) {
    const struct item *asset = collection_find(&flow_assets, from);
    if (asset && flow_asset_fits(asset->raw.n))
        flow_asset_put(to, asset->raw);
}

void flow_asset_remove(const char *flow) {
    collection_remove(&flow_assets, flow);
}

void flow_asset_clear(void) {
    collection_clear(&flow_assets, NULL);
}

bool flow_asset_add(struct buffer *out, const char *flow) {
    const struct item *asset = collection_find(&flow_assets, flow);
    if (asset)
        buffer_add_slice(out, asset->raw);
    return asset;
}

void flow_asset_print(const struct exchange *exchange, struct buffer *out, const char *flow) {
    struct arena *arena = exchange->arena;
    const char *origin = sandbox_origin(arena, exchange_header(exchange, "Host"));
    const char *cursor = cursor_write(arena, 1);
    buffer_add_text(out, "{\"data\":[{\"name\":\"flow.json\",\"asset_type\":\"FLOW_JSON\","
                         "\"download_url\":");
    json_quote_text(out, arena_printf(arena, "%s" ASSET_PATH "%s?oh=%s", origin, flow,
                                      asset_hash(arena, flow)));
    buffer_printf(out, "}],\"paging\":{\"cursors\":{\"before\":\"%s\",\"after\":\"%s\"}}}", cursor,
                  cursor);
}

bool flow_asset_is_download(const char *path) {
    return strncmp(path, ASSET_PATH, strlen(ASSET_PATH)) == 0;
}

void flow_asset_download(struct exchange *exchange) {
    static const char empty[] = "{\"version\":\"7.0\",\"screens\":[]}";
    const char *flow = exchange_segment(exchange, 1);
    const char *hash = exchange_parameter(exchange, "oh");
    const struct item *asset = collection_find(&flow_assets, flow);
    if (!hash || strcmp(hash, asset_hash(exchange->arena, flow)) != 0) {
        exchange->reply.status = 403;
        exchange->reply.type = "text/plain";
        buffer_add_text(&exchange->reply.body, "URL signature mismatch");
        return;
    }
    exchange->reply.type = "application/json";
    buffer_add_slice(&exchange->reply.body, asset ? asset->raw : SLICE(empty));
}
