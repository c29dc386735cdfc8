/* Texts that a terminal prints: what moves its cursor or changes the order of a line becomes `?`.
 */
#include "base/utf8.h"

#include "compare.h"

static const struct {
    const char *text, *shown, *lines; /* `lines`: with line breaks; NULL: as `shown` */
} cases[] = {
    {"", "", NULL},
    {"Zoë 日本 👩‍💻 ́", "Zoë 日本 👩‍💻 ́", NULL},
    {"a\nb\rc\td", "a?b?c?d", "a\nb?c?d"},
    {"\x1b[2J\x7f", "?[2J?", NULL},
    {"a\xc2\x80"
     "b\xc2\x9b"
     "c\xc2\xa0"
     "d",
     "a?b?c\xc2\xa0"
     "d",
     NULL},
    {"\u202eevil\u202c \u2066x\u2069 \u200e\u200f\u061c", "?evil? ?x? ???", NULL},
    {"a\u2028b\u2029c\u202d", "a?b?c?", NULL},
    {"\xff\xc3 \xe2\x80", "?? ??", NULL},
    {"\u200b\u200d\u2065\u206a\u202f", "\u200b\u200d\u2065\u206a\u202f", NULL},
};

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].text);
        utf8_show(text, false);
        CHECK_TEXT(text, cases[i].shown);
        snprintf(text, sizeof text, "%s", cases[i].text);
        utf8_show(text, true);
        CHECK_TEXT(text, cases[i].lines ? cases[i].lines : cases[i].shown);
    }
    return check_failures();
}
