#include "base/password.h"

#include <sodium.h>
#include <stdlib.h>

#include "base/utf8.h"

_Static_assert(PASSWORD_HASH_SIZE == crypto_pwhash_argon2id_STRBYTES, "hash");

/* The cost: 2 passes over 19 MiB, in one lane. */
enum { PASSES = 2, MEMORY = 19 * 1024 * 1024 };

/* clang-format off */
/* The most frequent passwords of 12 characters and more in published lists, in lower case. */
static const char *const worst[] = {
    "000000000000", "111111111111", "112233445566", "121212121212", "123123123123",
    "123321123321", "1234567890-=", "123456789012", "1234567890123", "12345678901234",
    "123456789012345", "1234567890123456", "1234567890qwerty", "1234567891011", "123456789abc",
    "123456789qwerty", "123456qwerty", "123qweasdzxc", "147258369147", "1q2w3e4r5t6y",
    "1q2w3e4r5t6y7u8i", "1qaz2wsx3edc", "1qaz2wsx3edc4rfv", "987654321000", "9876543210987",
    "a1b2c3d4e5f6", "aaaaaaaaaaaa", "abc123abc123", "abcd12345678", "abcdefghijkl",
    "abcdefghijklm", "administrator", "administrator1", "admin1234567", "adminadminadmin",
    "asdfghjkl123", "asdfghjkl1234", "asdfghjkl;'\\", "asdfghjklqwe", "changeme1234",
    "changemeplease", "chocolate123", "correcthorsebatterystaple", "football1234", "iloveyou1234",
    "iloveyouforever", "letmein12345", "liverpool123", "manchester123", "minhasenha123",
    "mustbechanged", "mypassword12", "mypassword123", "p@ssw0rd1234", "p@ssword1234",
    "passw0rd1234", "password0000", "password1111", "password1234", "password12345",
    "password123456", "password1234567", "password12345678", "password2024", "password2025",
    "password2026", "password@123", "passwordpassword", "princess1234", "q1w2e3r4t5y6",
    "qazwsxedcrfv", "qwerasdfzxcv", "qwerty123456", "qwerty1234567", "qwerty12345678",
    "qwertyqwerty", "qwertyuiop12", "qwertyuiop123", "qwertyuiop[]", "qwertyuiopasdfghjkl",
    "senha1234567", "senhasenhasenha", "starwars1234", "sunshine1234", "superman1234",
    "switchboard1", "switchboard12", "switchboard123", "switchboard1234", "test12345678",
    "testtesttest", "welcome12345", "welcome123456", "whatsapp1234", "zaq12wsxcde3",
    "zxcvbnm12345",
};
/* clang-format on */

static bool is_worst(struct slice text) {
    for (size_t i = 0; i < sizeof worst / sizeof *worst; i++)
        if (slice_is_word(text, worst[i]))
            return true;
    return false;
}

/* Whether it repeats one character. */
static bool is_uniform(struct slice text) {
    size_t first = utf8_length(text.p, text.n);
    for (size_t i = first; i < text.n; i++)
        if (text.p[i] != text.p[i - first])
            return false;
    return true;
}

const char *password_problem(struct slice text) {
    size_t characters = 0;
    for (size_t i = 0; i < text.n; i++)
        characters += (text.p[i] & 0xc0) != 0x80; /* not a continuation byte of UTF-8 */
    if (characters < PASSWORD_SHORTEST)
        return "at least 12 characters long";
    if (text.n > PASSWORD_LONGEST)
        return "at most 128 bytes long";
    if (is_uniform(text) || is_worst(text))
        return "none of the most frequent passwords";
    return NULL;
}

/* Chooses the fastest implementation for this processor, once; without it libsodium takes the
 * slowest. */
static void prepare(void) {
    if (sodium_init() < 0)
        abort();
}

bool password_hash(struct slice password, char hash[PASSWORD_HASH_SIZE]) {
    prepare();
    return crypto_pwhash_str_alg(hash, password.p, password.n, PASSES, MEMORY,
                                 crypto_pwhash_ALG_ARGON2ID13) == 0;
}

bool password_matches(struct slice password, const char *hash) {
    /* A hash with the same parameters, of random bytes that were thrown away. */
    static const char none[] = "$argon2id$v=19$m=19456,t=2,p=1$c3dpdGNoYm9hcmQubm9uZQ$"
                               "4tZ8n0G1cQh2m3vXo5yWl7rKs9uBe6dAfJiPgTwLxMk";
    prepare();
    bool matches = crypto_pwhash_str_verify(hash ? hash : none, password.p, password.n) == 0;
    return matches && hash;
}

bool password_is_outdated(const char *hash) {
    return crypto_pwhash_str_needs_rehash(hash, PASSES, MEMORY) != 0;
}
