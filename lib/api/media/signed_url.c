#include "api/media/signed_url.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/crypto.h"
#include "graph/call.h"

/* Signs the members, each followed by a byte that it cannot hold. */
static void sign(const struct signed_url *url, const char *secret,
                 unsigned char signature[CRYPTO_HASH_SIZE]) {
    unsigned char key[CRYPTO_HASH_SIZE];
    char time[32];
    snprintf(time, sizeof time, "%" PRId64, url->expires_at);
    const struct slice end = SLICE("\0");
    const struct slice pieces[] = {
        slice_of(url->user_id), end, slice_of(url->account_id), end, slice_of(url->media_id), end,
        slice_of(time)};
    crypto_hmac_sha256(slice_of(secret), SLICE("switchboard: URLs of media"), key);
    crypto_hmac_sha256_pieces((struct slice){(const char *)key, sizeof key}, pieces,
                              sizeof pieces / sizeof *pieces, signature);
    crypto_wipe(key, sizeof key);
}

char *signed_url_make(struct arena *arena, const char *base, const struct signed_url *url,
                      const char *secret) {
    unsigned char signature[CRYPTO_HASH_SIZE];
    sign(url, secret, signature);
    return arena_printf(
        arena, "%s" SIGNED_URL_PATH "%s?user=%s&account=%s&expires=%" PRId64 "&signature=%s", base,
        graph_escape(arena, slice_of(url->media_id)), graph_escape(arena, slice_of(url->user_id)),
        graph_escape(arena, slice_of(url->account_id)), url->expires_at,
        crypto_hex(arena, signature, sizeof signature));
}

bool signed_url_is_genuine(const struct signed_url *url, struct slice signature,
                           const char *secret) {
    unsigned char expected[CRYPTO_HASH_SIZE], given[CRYPTO_HASH_SIZE];
    if (!crypto_unhex(signature, given, sizeof given))
        return false;
    sign(url, secret, expected);
    return crypto_equal((struct slice){(const char *)given, sizeof given},
                        (struct slice){(const char *)expected, sizeof expected});
}
