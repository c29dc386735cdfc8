/* One-time passwords by the time (lib/base/totp.h). */
#include "base/totp.h"

#include "check.h"

static struct arena arena;

/* RFC 6238, appendix B, of SHA-1: codes of 8 digits. */
static void has_the_codes_of_the_standard(void) {
    static const struct {
        int64_t seconds;
        uint32_t code;
    } vectors[] = {{59, 94287082},         {1111111109, 7081804},  {1111111111, 14050471},
                   {1234567890, 89005924}, {2000000000, 69279037}, {20000000000, 65353130}};
    const struct slice secret = SLICE("12345678901234567890");
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint32_t code = totp_bits(secret, totp_step(vectors[i].seconds * 1000)) % 100000000;
        check(code == vectors[i].code, "%u at %lld", code, (long long)vectors[i].seconds);
    }
}

/* RFC 4226, appendix D: the bits of the first counters. */
static void has_the_bits_of_the_counters(void) {
    static const uint32_t bits[] = {1284755224, 1094287082, 137359152, 1726969429, 1640338314,
                                    868254676,  1918287922, 82162583,  673399871,  645520489};
    for (int i = 0; i < 10; i++)
        check(totp_bits(SLICE("12345678901234567890"), i) == bits[i], "counter %d", i);
}

/* At 59 s the step is 1, and its code 287082; that of step 0 is 755224, of step 2 359152, of step 3
 * 969429. */
static void takes_the_step_and_one_to_each_side_once(void) {
    const struct slice secret = SLICE("12345678901234567890");
    const int64_t now = 59000;
    check(totp_find_step(secret, SLICE("287082"), now, 0) == 1, "the present one");
    check(totp_find_step(secret, SLICE("755224"), now, -1) == 0, "the one before");
    check(totp_find_step(secret, SLICE("359152"), now, 0) == 2, "the one after");
    check(totp_find_step(secret, SLICE("969429"), now, 0) == -1, "two after");
    check(totp_find_step(secret, SLICE("755224"), now + 30000, -1) == -1, "two before");
    check(totp_find_step(secret, SLICE("287082"), now, 1) == -1, "a used one");
    check(totp_find_step(secret, SLICE("755224"), now, 1) == -1, "one before a used one");
    check(totp_find_step(secret, SLICE("87082"), now, 0) == -1, "five digits");
    check(totp_find_step(secret, SLICE("2870822"), now, 0) == -1, "seven digits");
    check(totp_find_step(secret, SLICE(""), now, 0) == -1, "none");
}

/* RFC 4648 10. */
static void writes_base32(void) {
    static const char *const texts[] = {"",        "MY",       "MZXQ",      "MZXW6",
                                        "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"};
    for (size_t n = 0; n <= 6; n++) {
        const char *text = totp_base32(&arena, "foobar", n);
        check(strcmp(text, texts[n]) == 0, "%zu bytes: %s", n, text);
    }
}

int main(void) {
    arena_init(&arena, 1024 * 1024, NULL);
    has_the_codes_of_the_standard();
    has_the_bits_of_the_counters();
    takes_the_step_and_one_to_each_side_once();
    writes_base32();
    arena_free(&arena);
    return check_failures();
}
