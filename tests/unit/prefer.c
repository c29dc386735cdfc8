/* The request header Prefer (RFC 7240). */
#include "web/prefer.h"

#include "compare.h"

static const struct {
    const char *header;
    bool is_strict;
} cases[] = {
    {NULL, false},
    {"", false},
    {"handling=strict", true},
    {"HANDLING=Strict", true},
    {"handling = strict", true},
    {" handling\t=\tstrict ", true},
    {"handling=\"strict\"", true},
    {"handling=\"STRICT\"", true},
    {"handling=\"st\\rict\"", true},
    {"handling=strict; foo=bar", true},
    {"handling=strict;foo", true},
    {"handling=strict ; foo=\"a, handling=lenient\"", true},
    {"respond-async, wait=10, handling=strict", true},
    {"return=minimal; foo=\"a, b\\\", c\", handling=strict", true},
    {",, ,handling=strict,", true},
    {"handling=strict, handling=lenient", true},
    {"handling=lenient, handling=strict", false},
    {"handling, handling=strict", false},
    {"handling=, handling=strict", false},
    {"handling", false},
    {"handling=lenient", false},
    {"handling=\"\"", false},
    {"handling=\"strict", false},
    {"handling=\" strict\"", false},
    {"handling=\"", false},
    {"handling=stricter", false},
    {"handling=stric", false},
    {"strict", false},
    {"strict=handling", false},
    {"respond-async; handling=strict", false},
    {"foo=\"handling=strict\"", false},
    {"foo=\", handling=strict\"", false},
    {"foo=\"\\\", handling=strict", false},
    {"x-handling=strict", false},
    {"handling=\"strict\\\"", false},
    {"handling=\"\\", false},
};

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_INTEGER_AS(cases[i].header ? cases[i].header : "no header",
                         prefer_has(cases[i].header, "handling", "strict"), cases[i].is_strict);
    return check_failures();
}
