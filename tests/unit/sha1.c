/* SHA-1, by the examples of FIPS 180: their ends need one block more, and none. */
#include "base/sha1.h"

#include <string.h>

#include "base/crypto.h"
#include "compare.h"

static const struct {
    const char *text, *hash;
} examples[] = {
    {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "q"
     "rsmnopqrstnopqrstu",
     "a49b2446a02c645bf419f995b67091253a04a259"},
};

int main(void) {
    static char many[1000 * 1000];
    unsigned char hash[SHA1_SIZE];
    struct arena arena;
    arena_init(&arena, 1024 * 1024, NULL);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        sha1(slice_of(examples[i].text), hash);
        check(strcmp(crypto_hex(&arena, hash, sizeof hash), examples[i].hash) == 0, "%s",
              examples[i].text);
    }
    memset(many, 'a', sizeof many);
    sha1((struct slice){many, sizeof many}, hash);
    check(strcmp(crypto_hex(&arena, hash, sizeof hash),
                 "34aa973cd4c4daa4f61eeb2bdbad27316534016f") == 0,
          "a million");
    arena_free(&arena);
    return check_failures();
}
