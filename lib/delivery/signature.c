#include "delivery/signature.h"

#include "base/buffer.h"
#include "base/crypto.h"

enum { SHORTEST_KEY = 24 }; /* of a Standard Webhooks secret, bytes */

/* Decodes the code from base64, with or without padding. p == NULL when it is not base64, or when
 * the result is too short for a Standard Webhooks secret. */
static struct slice decoded_key(struct arena *arena, struct slice code) {
    struct buffer text = buffer_in(arena);
    struct slice prefix = SLICE("whsec_");
    buffer_add_slice(&text, slice_starts(code, prefix) ? slice_skip(code, prefix.n) : code);
    while (text.n % 4)
        buffer_add_char(&text, '=');
    struct slice key = crypto_unbase64(arena, buffer_slice(&text));
    return key.n >= SHORTEST_KEY ? key : (struct slice){NULL, 0};
}

static void add_signature(struct buffer *list, struct slice key, const struct slice *pieces,
                          size_t count) {
    unsigned char mac[CRYPTO_HASH_SIZE];
    crypto_hmac_sha256_pieces(key, pieces, count, mac);
    buffer_printf(list, "%sv1,%s", list->n ? " " : "", crypto_base64(list->arena, mac, sizeof mac));
}

char *event_signature_list(struct arena *arena, const char *id, int64_t timestamp,
                           struct slice body, const struct slice *codes, size_t count) {
    struct slice pieces[] = {slice_of(arena_printf(arena, "%s.%lld.", id, (long long)timestamp)),
                             body};
    struct buffer list = buffer_in(arena);
    for (size_t i = 0; i < count; i++) {
        struct slice decoded = decoded_key(arena, codes[i]);
        add_signature(&list, codes[i], pieces, 2);
        if (decoded.p)
            add_signature(&list, decoded, pieces, 2);
    }
    return arena_copy(arena, buffer_slice(&list));
}

char *event_signature_hub(struct arena *arena, struct slice body, struct slice code) {
    unsigned char mac[CRYPTO_HASH_SIZE];
    crypto_hmac_sha256(code, body, mac);
    return arena_printf(arena, "sha256=%s", crypto_hex(arena, mac, sizeof mac));
}
