/* Phones and business-scoped user ids (spec 2.3). */
#include "payload/recipient.h"

#include "compare.h"

static struct arena arena;

static const char *const bsuids[] = {"US.1",      "US.13491208655302741918",     "PE.a1B2",
                                     "GB.ENT.x9", "US.ENT.13491208655302741918", "US.ENT"};

static const char *const not_bsuids[] = {
    "",      "US",      "US.",         "US1",    "us.1",         "Us.1",         "USA.1",  "U.1",
    "U1.1",  "US.ENT.", "US.ent.1",    "US.1.2", "US.ENT.1.2",   "US.a-b",       "US.a_b", " US.1",
    "US.1 ", "US. 1",   "US.\xc3\xa9", "US,1",   "+15551234567", "US.ENT.ENT.1",
};

static const struct {
    struct slice to;
    const char *digits; /* NULL: refused */
} phones[] = {
    {SLICE("12345"), "12345"},
    {SLICE("+1 (650) 555-1234"), "16505551234"},
    {SLICE("0049.30/12345"), "00493012345"},
    {SLICE("tel:+1-650-555-1234"), "16505551234"},
    {SLICE("1\0"
           "2345"),
     "12345"},
    {SLICE("12345678901234567890"), "12345678901234567890"},
    {SLICE("usa.13491208655302"), "13491208655302"}, /* not in the form of a BSUID */
    {SLICE("u.13491208655302"), "13491208655302"},
    {SLICE("us.13491208.655302"), "13491208655302"},
    {SLICE("us.enter.13491208655302"), "13491208655302"},
    {SLICE("\xd9\xa1\xd9\xa2\xd9\xa3\xd9\xa4\xd9\xa5"), NULL}, /* digits, but not ASCII */
    {SLICE("1234"), NULL},
    {SLICE("+"), NULL},
    {SLICE("abc"), NULL},
    {SLICE("123456789012345678901"), NULL},
    {SLICE("US.13491208655302741918"), NULL},
    {SLICE(" US.ENT.13491208655302\t"), NULL},
    {SLICE("us.13491208655302741918"), NULL},
    {SLICE("uS.13491208655302"), NULL},
    {SLICE("Us.ENT.13491208655302"), NULL},
    {SLICE("us.ent.13491208655302"), NULL},
    {SLICE("us.Ent.aB13491208655302 "), NULL},
};

static const struct slice plain[] = {
    SLICE(""),
    SLICE("15551234567"),
    SLICE("+1 (555) 123-4567\r\n"),
    SLICE("0049.30/12345 [6]"),
    SLICE("\xe2\x80\xaa+1\xc2\xa0"
          "555\xe2\x80\x91"
          "1234\xe2\x88\x92"
          "567\xe2\x80\xac\xe2\x81\xa9\xe3\x80\x80\xef\xbb\xbf"),
};

/* Texts in which some readers find other digits. */
static const struct slice not_plain[] = {
    SLICE("1555123456a"),
    SLICE("1-800-FLOWERS"),
    SLICE("15551234567x5"),
    SLICE("15551234567,5"),
    SLICE("15551234567;ext=5"),
    SLICE("15551234567#5"),
    SLICE("15551234567@c.us"),
    SLICE("15551234567\0"),
    SLICE("1555123456\xef\xbc\x97"), /* U+FF17 */
    SLICE("1555123456\xd9\xa7"),     /* U+0667 */
    SLICE("1555123456\xc2\xb2"),     /* U+00B2 */
    SLICE("1555123456\xe2\x81\xb7"), /* U+2077 */
    SLICE("1555123456\xe2\x80"),
    SLICE("1555123456\xe2"),
};

static void check_plain(void) {
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        CHECK_INTEGER_AS(plain[i].p, recipient_is_plain_phone(plain[i]), true);
    for (size_t i = 0; i < sizeof not_plain / sizeof *not_plain; i++)
        CHECK_INTEGER_AS(not_plain[i].p, recipient_is_plain_phone(not_plain[i]), false);
}

int main(void) {
    check_plain();
    arena_init(&arena, 1024 * 1024, NULL);
    for (size_t i = 0; i < sizeof bsuids / sizeof *bsuids; i++) {
        CHECK_INTEGER_AS(bsuids[i], recipient_is_bsuid(slice_of(bsuids[i])), true);
        CHECK_TEXT_AS(bsuids[i], (*recipient_bsuid_rule.check)(slice_of(bsuids[i])), NULL);
        CHECK_HOLDS_AS(bsuids[i], (*recipient_to_rule.check)(slice_of(bsuids[i])), "recipient");
    }
    for (size_t i = 0; i < sizeof not_bsuids / sizeof *not_bsuids; i++) {
        CHECK_INTEGER_AS(not_bsuids[i], recipient_is_bsuid(slice_of(not_bsuids[i])), false);
        CHECK_HOLDS_AS(not_bsuids[i], (*recipient_bsuid_rule.check)(slice_of(not_bsuids[i])),
                       "US.");
    }
    CHECK(!recipient_is_bsuid(SLICE("US.1\0")) && !recipient_is_bsuid(slice_of(NULL)));

    char longest[] = "US.ENT.0123456789012345678901234567890123456789012345678901234567890123"
                     "45678901234567890123456789012345678901234567890123456789012345678";
    size_t most = 7 + 128;
    CHECK(strlen(longest) > most && !recipient_is_bsuid(slice_of(longest)));
    CHECK(recipient_is_bsuid((struct slice){longest, most}));
    CHECK(!recipient_is_bsuid((struct slice){longest, most + 1}));

    for (size_t i = 0; i < sizeof phones / sizeof *phones; i++) {
        const char *wrong = (*recipient_to_rule.check)(phones[i].to);
        CHECK_INTEGER_AS(phones[i].to.p, wrong != NULL, phones[i].digits == NULL);
        if (phones[i].digits)
            CHECK_TEXT(recipient_digits(&arena, phones[i].to), phones[i].digits);
    }
    arena_free(&arena);
    return check_failures();
}
