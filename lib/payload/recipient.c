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
