#include "webhooks/webhook_post.h"

#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "text/json_print.h"
#include "text/memory.h"

char *post_sign(struct arena *arena, const char *secret, struct slice body) {
    struct slice key = slice_of(secret);
    crypto_auth_hmacsha256_state state;
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256_init(&state, slice_octets(key), key.n);
    crypto_auth_hmacsha256_update(&state, slice_octets(body), body.n);
    crypto_auth_hmacsha256_final(&state, mac);
    return arena_printf(arena, "sha256=%s", crypto_hex(arena, mac, sizeof mac));
}

static void print_attempt(struct buffer *out, const struct attempt *attempt) {
    buffer_printf(out, "{\"status\":%ld,\"ms\":%" PRId64 ",\"error\":", attempt->status,
                  attempt->milliseconds);
    json_quote_text(out, attempt->error);
    buffer_add_text(out, ",\"answer\":");
    json_quote(out, buffer_slice(&attempt->answer));
    buffer_add_text(out, "}");
}

void post_print(struct buffer *out, const struct post *post, bool with_body) {
    buffer_add_text(out, "{\"ids\":");
    buffer_add_slice(out, post->ids);
    buffer_add_text(out, ",\"signature\":");
    json_quote_text(out, post->signature);
    buffer_printf(out, ",\"delivered\":%s,\"bodyLength\":%zu", post->delivered ? "true" : "false",
                  post->body.n);
    if (with_body) {
        buffer_add_text(out, ",\"body\":");
        json_quote(out, post->body);
    }
    buffer_add_text(out, ",\"attempts\":[");
    for (size_t i = 0; i < post->attempt_count; i++) {
        buffer_add_text(out, i == 0 ? "" : ",");
        print_attempt(out, &post->attempts[i]);
    }
    buffer_add_text(out, "]}");
}

void posts_print(struct buffer *out, const struct post *posts, size_t count, bool with_body) {
    buffer_add_text(out, "{\"posts\":[");
    for (size_t i = 0; i < count; i++) {
        buffer_add_text(out, i == 0 ? "" : ",");
        post_print(out, &posts[i], with_body);
    }
    buffer_add_text(out, "]}");
}

/* --- The last posts --- */

enum { LOG_MAX = 2000 };

/* A ring of JSON texts, each a block of memory. */
static struct {
    pthread_mutex_t lock;
    char *entries[LOG_MAX];
    size_t count; /* in all */
} webhooks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void log_add(struct slice text) {
    char *entry = memory_block(text.n + 1);
    memcpy(entry, text.p, text.n);
    pthread_mutex_lock(&webhooks.lock);
    char **place = &webhooks.entries[webhooks.count++ % LOG_MAX];
    free(*place);
    *place = entry;
    pthread_mutex_unlock(&webhooks.lock);
}

void webhook_log(struct arena *arena, const struct post *posts, size_t count) {
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < count; i++) {
        text.n = 0;
        post_print(&text, &posts[i], false);
        log_add(buffer_slice(&text));
    }
}

void webhook_log_list(struct buffer *out) {
    pthread_mutex_lock(&webhooks.lock);
    size_t first = webhooks.count > LOG_MAX ? webhooks.count - LOG_MAX : 0;
    buffer_add_text(out, "[");
    for (size_t i = first; i < webhooks.count; i++) {
        buffer_add_text(out, i == first ? "" : ",");
        buffer_add_text(out, webhooks.entries[i % LOG_MAX]);
    }
    buffer_add_text(out, "]");
    pthread_mutex_unlock(&webhooks.lock);
}

void webhook_log_clear(void) {
    pthread_mutex_lock(&webhooks.lock);
    for (size_t i = 0; i < LOG_MAX; i++) {
        free(webhooks.entries[i]);
        webhooks.entries[i] = NULL;
    }
    webhooks.count = 0;
    pthread_mutex_unlock(&webhooks.lock);
}
