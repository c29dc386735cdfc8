/* Hashes with published test vectors, encodings, and the sealing of secrets with a context. */
#include "base/crypto.h"
#include "base/seal.h"

#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"

static struct arena arena;

/* The byte `c`, `n` times. */
static struct slice repeated(char c, size_t n) {
    char *bytes = arena_alloc(&arena, n + 1);
    memset(bytes, c, n);
    return (struct slice){bytes, n};
}

/* RFC 4231 4.2 to 4.8; the fifth value is truncated to 128 bits in the RFC. */
static void check_hmac(void) {
    char counted[25];
    for (int i = 0; i < 25; i++)
        counted[i] = (char)(i + 1);
    const struct {
        struct slice key, data;
        const char *mac;
    } cases[] = {
        {repeated('\x0b', 20), SLICE("Hi There"),
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {SLICE("Jefe"), SLICE("what do ya want for nothing?"),
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {repeated('\xaa', 20), repeated('\xdd', 50),
         "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
        {{counted, 25},
         repeated('\xcd', 50),
         "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
        {repeated('\x0c', 20), SLICE("Test With Truncation"), "a3b6167473100ee06e0c796c2955552b"},
        {repeated('\xaa', 131), SLICE("Test Using Larger Than Block-Size Key - Hash Key First"),
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        {repeated('\xaa', 131),
         SLICE("This is a test using a larger than block-size key and a larger than block-size "
               "data. The key needs to be hashed before being used by the HMAC algorithm."),
         "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char mac[CRYPTO_HASH_SIZE], pieced[CRYPTO_HASH_SIZE];
        struct slice data = cases[i].data;
        const struct slice pieces[] = {{data.p, 3}, {NULL, 0}, slice_skip(data, 3)};
        crypto_hmac_sha256(cases[i].key, data, mac);
        crypto_hmac_sha256_pieces(cases[i].key, pieces, 3, pieced);
        CHECK_TEXT(crypto_hex(&arena, mac, strlen(cases[i].mac) / 2), cases[i].mac);
        CHECK(memcmp(mac, pieced, sizeof mac) == 0);
    }
}

static void check_hash(void) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256(SLICE("abc"), hash);
    CHECK_TEXT(crypto_hex(&arena, hash, sizeof hash),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    crypto_sha256((struct slice){NULL, 0}, hash);
    CHECK_TEXT(crypto_hex(&arena, hash, sizeof hash),
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void check_encodings(void) {
    unsigned char bytes[4];
    CHECK(crypto_unhex(SLICE("00fFa510"), bytes, 4) && memcmp(bytes, "\0\xff\xa5\x10", 4) == 0);
    static const char *const not_hex[] = {"",         "00ffa51",  "00ffa5100",
                                          "00ffa51g", "00 ffa51", "0x00ffa5"};
    for (size_t i = 0; i < sizeof not_hex / sizeof *not_hex; i++)
        CHECK_INTEGER_AS(not_hex[i], crypto_unhex(slice_of(not_hex[i]), bytes, 4), false);
    CHECK_TEXT(crypto_hex(&arena, "", 0), "");

    static const char *const base64[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd?", "//79Pw=="}};
    for (size_t i = 0; i < sizeof base64 / sizeof *base64; i++) {
        CHECK_TEXT(crypto_base64(&arena, base64[i][0], strlen(base64[i][0])), base64[i][1]);
        CHECK_SLICE_AS(base64[i][1], crypto_unbase64(&arena, slice_of(base64[i][1])),
                       slice_of(base64[i][0]));
    }
    static const char *const not_base64[] = {
        "Zg", "Zg=", "Zg===", "Z", "Zh==", "Zm9v\n", "Zm-_", "Zm 9v", "=", "Zm9v="};
    for (size_t i = 0; i < sizeof not_base64 / sizeof *not_base64; i++)
        CHECK_INTEGER_AS(not_base64[i], crypto_unbase64(&arena, slice_of(not_base64[i])).p != NULL,
                         false);
}

static void check_comparison(void) {
    CHECK(crypto_equal(SLICE("same"), SLICE("same")) && crypto_equal(SLICE(""), slice_of(NULL)));
    CHECK(!crypto_equal(SLICE("same"), SLICE("Same")) && !crypto_equal(SLICE("a"), SLICE("")));
    CHECK(!crypto_equal(SLICE("same"), SLICE("same ")));
    char wiped[] = "secret", random[2][600];
    crypto_wipe(wiped, sizeof wiped);
    CHECK(memcmp(wiped, "\0\0\0\0\0\0", 7) == 0);
    memset(random, 0, sizeof random);
    crypto_random(random[0], 600); /* more than one getrandom(2) returns */
    crypto_random(random[1], 600);
    CHECK(memcmp(random[0], random[1], 600) != 0);
    CHECK(memcmp(random[0] + 568, random[1] + 568, 32) != 0);
}

static void check_sealing(void) {
    static struct keyring ring = {.keys = {{.id = 3, .key = "three"}}, .count = 1};
    static const struct slice secrets[] = {SLICE(""), SLICE("x"), SLICE("a\0b"),
                                           SLICE("platform access token")};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        struct slice sealed = seal_secret(&ring, &arena, secrets[i], "here|1");
        struct slice opened = seal_open(&ring, &arena, sealed, "here|1");
        CHECK_SLICE(opened, secrets[i]);
        CHECK(opened.p && opened.p[opened.n] == '\0' && sealed.p[0] == 3);
        CHECK(secrets[i].n < 4 || !memmem(sealed.p, sealed.n, secrets[i].p, secrets[i].n));
        /* another context, a changed bit and a truncated text are refused */
        CHECK(!seal_open(&ring, &arena, sealed, "here|2").p);
        CHECK(!seal_open(&ring, &arena, sealed, "").p);
        for (size_t bit = 0; bit < sealed.n * 8; bit++) {
            struct slice changed = {arena_copy(&arena, sealed), sealed.n};
            ((char *)(uintptr_t)changed.p)[bit / 8] ^= (char)(1 << bit % 8);
            CHECK(!seal_open(&ring, &arena, changed, "here|1").p);
        }
        for (size_t n = 0; n < sealed.n; n++)
            CHECK(!seal_open(&ring, &arena, (struct slice){sealed.p, n}, "here|1").p);
    }
    struct slice once = seal_secret(&ring, &arena, SLICE("x"), "here"),
                 twice = seal_secret(&ring, &arena, SLICE("x"), "here");
    CHECK(!slice_equal(once, twice));
}

/* The last key seals, every key in the ring opens, and a removed key does not open. */
static void check_rotation(void) {
    static const struct keyring old = {.keys = {{.id = 1, .key = "one"}}, .count = 1},
                                both = {.keys = {{.id = 1, .key = "one"},
                                                 {.id = 7, .key = "seven"}},
                                        .count = 2},
                                new = {.keys = {{.id = 7, .key = "seven"}}, .count = 1},
                                other = {.keys = {{.id = 1, .key = "another"}}, .count = 1};
    struct slice by_old = seal_secret(&old, &arena, SLICE("secret"), "p"),
                 by_both = seal_secret(&both, &arena, SLICE("secret"), "p");
    CHECK_INTEGER(by_old.p[0], 1);
    CHECK_INTEGER(by_both.p[0], 7);
    CHECK_SLICE(seal_open(&both, &arena, by_old, "p"), SLICE("secret"));
    CHECK_SLICE(seal_open(&both, &arena, by_both, "p"), SLICE("secret"));
    CHECK_SLICE(seal_open(&new, &arena, by_both, "p"), SLICE("secret"));
    CHECK(!seal_open(&new, &arena, by_old, "p").p && !seal_open(&old, &arena, by_both, "p").p);
    CHECK(!seal_open(&other, &arena, by_old, "p").p);
}

#define DIGITS_64 "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"

static void check_key_file(void) {
    char path[] = "/tmp/switchboard-unit-XXXXXX";
    int fd = mkstemp(path);
    static const struct {
        const char *text;
        size_t count;
        const char *error;
    } files[] = {
        {"1 " DIGITS_64 "\n", 1, NULL},
        {"# old\r\n 255   " DIGITS_64 "\r\n\n2\t" DIGITS_64 "", 0, "line 4"},
        {"# old\r\n255   " DIGITS_64 "\r\n\n2 " DIGITS_64, 2, NULL},
        {"", 0, "holds no key"},
        {"# nothing\n", 0, "holds no key"},
        {"0 " DIGITS_64 "\n", 0, "line 1"},
        {"256 " DIGITS_64 "\n", 0, "line 1"},
        {"-1 " DIGITS_64 "\n", 0, "line 1"},
        {DIGITS_64 "\n", 0, "line 1"},
        {"1 " DIGITS_64 "00\n", 0, "line 1"},
        {"1 " DIGITS_64 " x\n", 0, "line 1"},
        {"1 abcd\n", 0, "line 1"},
        {"1 " DIGITS_64 "\n2 " DIGITS_64 "\n1 " DIGITS_64 "\n", 0, "line 3"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct keyring ring;
        const char *error = NULL;
        CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, files[i].text, strlen(files[i].text), 0) >= 0);
        CHECK_INTEGER_AS(files[i].text, keyring_read(path, &arena, &ring, &error),
                         files[i].error ? -1 : 0);
        if (files[i].error)
            CHECK_HOLDS_AS(files[i].text, error, files[i].error);
        else
            CHECK_INTEGER_AS(files[i].text, ring.count, (int64_t)files[i].count);
    }
    close(fd);

    struct keyring ring;
    struct stat made;
    const char *error = NULL;
    CHECK_INTEGER(keyring_create(path), -1); /* an existing file is not overwritten */
    unlink(path);
    CHECK_INTEGER(keyring_read(path, &arena, &ring, &error), -1);
    CHECK_HOLDS(error, path);
    CHECK_INTEGER(keyring_create(path), 0);
    CHECK(stat(path, &made) == 0 && (made.st_mode & 0137) == 0);
    CHECK_INTEGER(keyring_read(path, &arena, &ring, &error), 0);
    CHECK_INTEGER(ring.count, 1);
    unlink(path);
}

/* Ids of new keys, the maximum number of keys, and the keys that a full ring retains. */
static void check_rings(void) {
    struct keyring ring = {.count = 0}, older = {.count = 0};
    for (int i = 0; i < KEYRING_MAX; i++)
        CHECK(keyring_add(&ring) && keyring_newest(&ring)->id == i + 1);
    CHECK(!keyring_add(&ring));
    struct keyring_key newest = *keyring_newest(&ring);
    keyring_keep_newest(&ring);
    CHECK_INTEGER(ring.count, 1);
    CHECK(memcmp(&ring.keys[0], &newest, sizeof newest) == 0);
    ring.keys[0].id = 254;
    CHECK(keyring_add(&ring) && keyring_newest(&ring)->id == 255);
    CHECK(keyring_add(&ring) && keyring_newest(&ring)->id == 1); /* 255 is the last id */
    ring.keys[0].id = 2;
    CHECK(keyring_add(&ring) && keyring_newest(&ring)->id == 3); /* id 2 is in use */

    while (keyring_add(&older)) /* 1 to 16 */
        ;
    keyring_retain(&ring, &older); /* the ring has 2, 255, 1 and 3 */
    CHECK_INTEGER(ring.count, KEYRING_MAX);
    CHECK_INTEGER(keyring_newest(&ring)->id, 3);
    CHECK_INTEGER(ring.keys[11].id, 16); /* the newest of the older keys */
    CHECK_INTEGER(ring.keys[0].id, 5);
}

int main(void) {
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    check_hash();
    check_hmac();
    check_encodings();
    check_comparison();
    check_sealing();
    check_rotation();
    check_key_file();
    check_rings();
    arena_free(&arena);
    return check_failures();
}
