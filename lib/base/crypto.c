#include "base/crypto.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

_Static_assert(CRYPTO_HASH_SIZE == crypto_hash_sha256_BYTES, "SHA-256");
_Static_assert(CRYPTO_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key size");

static const unsigned char *bytes_of(struct slice s) {
    return (const unsigned char *)(s.p ? s.p : "");
}

void crypto_sha256(struct slice bytes, unsigned char hash[CRYPTO_HASH_SIZE]) {
    crypto_hash_sha256(hash, bytes_of(bytes), bytes.n);
}

void crypto_hmac_sha256_pieces(struct slice key, const struct slice *pieces, size_t count,
                               unsigned char mac[CRYPTO_HASH_SIZE]) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, bytes_of(key), key.n);
    for (size_t i = 0; i < count; i++)
        crypto_auth_hmacsha256_update(&state, bytes_of(pieces[i]), pieces[i].n);
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_memzero(&state, sizeof state);
}

void crypto_hmac_sha256(struct slice key, struct slice bytes, unsigned char mac[CRYPTO_HASH_SIZE]) {
    crypto_hmac_sha256_pieces(key, &bytes, 1, mac);
}

void crypto_random(void *out, size_t n) {
    for (char *p = out; n > 0;) {
        size_t part = n < 256 ? n : 256;
        if (getentropy(p, part) != 0) {
            perror("switchboard: no random bytes"); /* a guessable secret is worse than none */
            abort();
        }
        p += part, n -= part;
    }
}

bool crypto_equal(struct slice a, struct slice b) {
    return a.n == b.n && (a.n == 0 || sodium_memcmp(a.p, b.p, a.n) == 0);
}

void crypto_wipe(void *bytes, size_t n) {
    sodium_memzero(bytes, n);
}

char *crypto_hex(struct arena *arena, const void *bytes, size_t n) {
    char *text = arena_alloc(arena, 2 * n + 1);
    return sodium_bin2hex(text, 2 * n + 1, bytes, n);
}

bool crypto_unhex(struct slice text, void *bytes, size_t n) {
    size_t length = 0;
    return text.n == 2 * n && sodium_hex2bin(bytes, n, text.p, text.n, NULL, &length, NULL) == 0 &&
           length == n;
}

char *crypto_base64(struct arena *arena, const void *bytes, size_t n) {
    size_t size = sodium_base64_encoded_len(n, sodium_base64_VARIANT_ORIGINAL);
    return sodium_bin2base64(arena_alloc(arena, size), size, bytes, n,
                             sodium_base64_VARIANT_ORIGINAL);
}

struct slice crypto_unbase64(struct arena *arena, struct slice text) {
    unsigned char *out = arena_alloc(arena, text.n + 1);
    size_t n = 0;
    const char *end = NULL;
    if (!text.p ||
        sodium_base642bin(out, text.n, text.p, text.n, NULL, &n, &end,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        end != text.p + text.n)
        return (struct slice){NULL, 0};
    return (struct slice){(char *)out, n};
}

/* Reads a line `ID HEX` into the ring; returns NULL or what is wrong with it. */
static const char *read_key(struct slice line, struct keyring *ring) {
    line = slice_trim(line);
    if (!line.n || line.p[0] == '#')
        return NULL;
    if (ring->count == sizeof ring->keys / sizeof *ring->keys)
        return "is the 17th key; at most 16 are kept";
    struct slice id_text = slice_cut(&line, ' ');
    unsigned id = 0;
    for (size_t i = 0; i < id_text.n && id < 256; i++)
        id = id_text.p[i] >= '0' && id_text.p[i] <= '9' ? id * 10 + (unsigned)(id_text.p[i] - '0')
                                                        : 256;
    if (id < 1 || id > 255 ||
        !crypto_unhex(slice_trim(line), ring->keys[ring->count].key, CRYPTO_KEY_SIZE))
        return "is not `ID HEX` with ID from 1 to 255 and 64 hexadecimal digits";
    ring->keys[ring->count++].id = (uint8_t)id;
    return NULL;
}

int keyring_read(const char *path, struct arena *arena, struct keyring *ring, const char **error) {
    ring->count = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        *error = arena_printf(arena, "cannot read the key file %s: %s", path, strerror(errno));
        return -1;
    }
    char line[256];
    const char *wrong = NULL;
    int number = 0;
    while (!wrong && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        wrong = read_key(slice_of(line), ring);
    }
    sodium_memzero(line, sizeof line);
    fclose(file);
    if (!wrong && ring->count)
        return 0;
    *error = wrong ? arena_printf(arena, "%s: line %d %s", path, number, wrong)
                   : arena_printf(arena, "%s holds no key", path);
    return -1;
}

/* Writes the key to the new file `path` and flushes it. */
static int write_key(const char *path, const char *hex) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    int failed = fd < 0 || dprintf(fd, "1 %s\n", hex) < 0 || fsync(fd) != 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return failed ? -1 : 0;
}

/* Whole from the moment it is there: written under another name, then linked, which never replaces.
 */
int keyring_create(const char *path) {
    unsigned char key[CRYPTO_KEY_SIZE];
    char hex[2 * CRYPTO_KEY_SIZE + 1], temporary[4096];
    int n = snprintf(temporary, sizeof temporary, "%s.new-%ld", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temporary)
        return errno = ENAMETOOLONG, -1;
    if (access(path, F_OK) == 0) /* also where nothing may be written */
        return errno = EEXIST, -1;
    crypto_random(key, sizeof key);
    sodium_bin2hex(hex, sizeof hex, key, sizeof key);
    unlink(temporary); /* of a process with this number that was cut short */
    int failed = write_key(temporary, hex) != 0 || link(temporary, path) != 0;
    int reason = errno;
    unlink(temporary);
    sodium_memzero(key, sizeof key);
    sodium_memzero(hex, sizeof hex);
    errno = reason;
    return failed ? -1 : 0;
}

enum {
    NONCE_SIZE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_SIZE = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    SEAL_SIZE = 1 + NONCE_SIZE + TAG_SIZE, /* what sealing adds */
};

struct slice crypto_seal(const struct keyring *ring, struct arena *arena, struct slice secret,
                         const char *place) {
    size_t newest = 0;
    for (size_t i = 1; i < ring->count; i++)
        if (ring->keys[i].id > ring->keys[newest].id)
            newest = i;
    unsigned char *out = arena_alloc(arena, SEAL_SIZE + secret.n);
    out[0] = ring->keys[newest].id;
    crypto_random(out + 1, NONCE_SIZE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        out + 1 + NONCE_SIZE, NULL, bytes_of(secret), secret.n, (const unsigned char *)place,
        strlen(place), NULL, out + 1, ring->keys[newest].key);
    return (struct slice){(char *)out, SEAL_SIZE + secret.n};
}

struct slice crypto_open(const struct keyring *ring, struct arena *arena, struct slice sealed,
                         const char *place) {
    if (sealed.n < SEAL_SIZE)
        return (struct slice){NULL, 0};
    const unsigned char *in = bytes_of(sealed);
    size_t n = sealed.n - SEAL_SIZE;
    unsigned char *out = arena_alloc(arena, n + 1);
    for (size_t i = 0; i < ring->count; i++)
        if (ring->keys[i].id == in[0] &&
            crypto_aead_xchacha20poly1305_ietf_decrypt(
                out, NULL, NULL, in + 1 + NONCE_SIZE, n + TAG_SIZE, (const unsigned char *)place,
                strlen(place), in + 1, ring->keys[i].key) == 0)
            return (struct slice){(char *)out, n};
    return (struct slice){NULL, 0};
}
