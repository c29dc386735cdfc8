#include "payload/recipient.h"

#include <ctype.h>

enum { FEWEST_DIGITS = 5, MOST_DIGITS = 20, LONGEST_BSUID = 128 };

const char *const recipient_names[] = {"to", "recipient", NULL};

static bool is_bsuid(struct slice text, bool any_case) {
    int (*is_country)(int) = any_case ? isalpha : isupper;
    if (text.n < 4 || !is_country((unsigned char)text.p[0]) ||
        !is_country((unsigned char)text.p[1]) || text.p[2] != '.')
        return false;
    struct slice rest = slice_skip(text, 3);
    if (slice_starts(rest, SLICE("ENT.")) ||
        (any_case && rest.n >= 4 && strncasecmp(rest.p, "ENT.", 4) == 0))
        rest = slice_skip(rest, 4);
    if (rest.n < 1 || rest.n > LONGEST_BSUID)
        return false;
    for (size_t i = 0; i < rest.n; i++)
        if (!isalnum((unsigned char)rest.p[i]))
            return false;
    return true;
}

bool recipient_is_bsuid(struct slice text) {
    return is_bsuid(text, false);
}

bool recipient_is_bsuid_in_any_case(struct slice text) {
    return is_bsuid(text, true);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

char *recipient_digits(struct arena *arena, struct slice phone) {
    char *digits = arena_alloc(arena, phone.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < phone.n; i++)
        if (is_digit(phone.p[i]))
            digits[n++] = phone.p[i];
    return digits;
}

const char *recipient_stored(struct arena *arena, struct slice text) {
    const struct slice name = slice_trim(text);
    return recipient_is_bsuid(name) ? arena_copy(arena, name) : recipient_digits(arena, name);
}

/* Spaces, hyphens, and the invisible marks of direction that come with a copied number. */
static const struct {
    struct slice first;     /* the bytes before the last one */
    unsigned char from, to; /* the last byte */
} signs[] = {
    {SLICE("\xc2"), 0xa0, 0xa0},     /* U+00A0 */
    {SLICE("\xc2"), 0xad, 0xad},     /* U+00AD */
    {SLICE("\xe2\x80"), 0x80, 0xaf}, /* U+2000 to U+202F */
    {SLICE("\xe2\x81"), 0xa0, 0xaf}, /* U+2060 to U+206F */
    {SLICE("\xe2\x88"), 0x92, 0x92}, /* U+2212 */
    {SLICE("\xe3\x80"), 0x80, 0x80}, /* U+3000 */
    {SLICE("\xef\xbb"), 0xbf, 0xbf}, /* U+FEFF */
};

/* Returns the length of the sign that begins the text; 0: it begins with another character. */
static size_t sign_length(struct slice text) {
    static const char ascii[] = " \t\r\n+-.()/[]";
    if (memchr(ascii, text.p[0], sizeof ascii - 1))
        return 1;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t n = signs[i].first.n;
        unsigned char last = text.n > n ? (unsigned char)text.p[n] : 0;
        if (slice_starts(text, signs[i].first) && last >= signs[i].from && last <= signs[i].to)
            return n + 1;
    }
    return 0;
}

bool recipient_is_plain_phone(struct slice text) {
    while (text.n) {
        size_t n = is_digit(text.p[0]) ? 1 : sign_length(text);
        if (!n)
            return false;
        text = slice_skip(text, n);
    }
    return true;
}

static const char *check_to(struct slice text) {
    size_t digits = 0;
    for (size_t i = 0; i < text.n; i++)
        digits += is_digit(text.p[i]);
    if (recipient_is_bsuid_in_any_case(slice_trim(text)))
        return "is a business-scoped user id: send it as recipient";
    if (digits < FEWEST_DIGITS || digits > MOST_DIGITS)
        return "must be a phone number of 5 to 20 digits with its country code";
    return NULL;
}

static const char *check_bsuid(struct slice text) {
    return recipient_is_bsuid(text)
               ? NULL
               : "must be a business-scoped user id such as US.13491208655302741918";
}

static const char *check_any(struct slice text) {
    const struct slice name = slice_trim(text);
    if (recipient_is_bsuid(name) || !check_to(name))
        return NULL;
    return "must be a phone number of 5 to 20 digits with its country code, or a business-scoped "
           "user id such as US.13491208655302741918";
}

const struct text_rule recipient_to_rule = {
    .meaning = "a phone number of 5 to 20 digits with its country code",
    .pattern = "^(?!\\s*[A-Za-z]{2}\\.([Ee][Nn][Tt]\\.)?[A-Za-z0-9]{1,128}\\s*$)"
               "([^0-9]*[0-9]){5,20}[^0-9]*$",
    .check = check_to,
};

const struct text_rule recipient_bsuid_rule = {
    .meaning = "a business-scoped user id",
    .pattern = "^[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128}$",
    .check = check_bsuid,
};

const struct text_rule recipient_any_rule = {
    .meaning =
        "a phone number of 5 to 20 digits with its country code, or a business-scoped user id",
    .pattern = "^(\\s*[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128}\\s*|"
               "(?!\\s*[A-Za-z]{2}\\.([Ee][Nn][Tt]\\.)?[A-Za-z0-9]{1,128}\\s*$)"
               "([^0-9]*[0-9]){5,20}[^0-9]*)$",
    .check = check_any,
};
