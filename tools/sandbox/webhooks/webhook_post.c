#include "webhooks/webhook_post.h"

#include <inttypes.h>
#include <sodium.h>

#include "base/crypto.h"
#include "text/json_print.h"

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
