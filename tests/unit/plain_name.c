/* Names of parameters: which are plain, which clash, and JSON objects with a name that stands
 * twice. */
#include "web/plain_name.h"
#include "base/json.h"
#include "compare.h"

static struct arena arena;

#define KEYS(n) n "[1][2][3][4][5][6][7][8][9][10][11][12][13][14]"

static const char *const plain[] = {
    "a", "A-Z_09", "0", "-", "a[]", "a[b]", "a[b][]", "a[][c]", "a[-1]", KEYS("a") "[15]",
};

static const char *const other[] = {
    "",     "a.b", "a b",   " a",   "a ",   "[a]",    "[]",     "a[",       "a]",
    "a[b",  "a[b", "a[b]c", "a[[]", "a[[b", "a[b.c]", "a[b c]", "a\tb",     KEYS("a") "[15][16]",
    "a%5B", "a+b", "'a'",   "\"a",  "a;b",  "a=b",    "a&b",    "\xc3\xa4", "a\xa0",
};

static void check_names(void) {
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        check(plain_name_check(slice_of(plain[i])), "%s", plain[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        check(!plain_name_check(slice_of(other[i])), "%s", other[i]);
    check(!plain_name_check((struct slice){"a\0b", 3}), "NUL");
    check(!plain_name_check((struct slice){NULL, 0}), "no name");
}

static const struct {
    const char *name, *raw;
    bool is_raw;
} written[] = {
    {"a", "a", true},       {"a[b]", "a[b]", true},      {"a[b]", "a%5bb%5D", true},
    {"a[]", "a%5B]", true}, {"a", "%61", false},         {"a[]", "a%5B%5", false},
    {"a", "a ", false},     {"a[b]", "a%5b%62]", false}, {"a[]", "a%5d%5b", false},
    {"a", "", false},
};

static void check_raw(void) {
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        CHECK_INTEGER_AS(written[i].raw,
                         plain_name_is_raw(slice_of(written[i].name), slice_of(written[i].raw)),
                         written[i].is_raw);
    CHECK(plain_name_is(SLICE("a_b"), "a_b") && plain_name_is(SLICE("A-b[c]"), "a_b"));
    CHECK(!plain_name_is(SLICE("a_bc"), "a_b") && !plain_name_is(SLICE("a"), "a_b"));
}

static const struct {
    const char *a, *b;
    bool do_clash;
} pairs[] = {
    {"a", "a", true},
    {"a", "A", true},
    {"a-b", "a_b", true},
    {"a", "b", false},
    {"a", "ab", false},
    {"a", "a[]", true},
    {"a", "a[b]", true},
    {"a[b]", "a[c]", false},
    {"a[b]", "a[b]", true},
    {"a[b]", "a[b][c]", true},
    {"a[]", "a[]", false},
    {"a[]", "a[0]", true},
    {"a[][b]", "a[][b]", false},
    {"a[0][]", "a[0][]", false},
    {"a[0][]", "a[0][1]", true},
    {"a[0][x]", "a[1][x]", false},
};

static void check_clashes(void) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct slice a = slice_of(pairs[i].a), b = slice_of(pairs[i].b);
        CHECK_INTEGER_AS(pairs[i].a, plain_name_clash(a, b), pairs[i].do_clash);
        CHECK_INTEGER_AS(pairs[i].b, plain_name_clash(b, a), pairs[i].do_clash);
    }
}

static const struct {
    const char *json, *doubled; /* NULL: none */
} texts[] = {
    {"{}", NULL},
    {"[1,1]", NULL},
    {"{\"a\":1,\"b\":{\"a\":1},\"c\":[{\"a\":1},{\"a\":1}]}", NULL},
    {"{\"a\":1,\"b\":2,\"a\":3}", "a"},
    {"{\"a\":1,\"\\u0061\":2}", "a"},
    {"{\"\":1,\"\":2}", ""},
    {"[[{\"x\":{\"b\":1,\"a\":1,\"b\":1}}]]", "b"},
    {"{\"a\":\"{\\\"b\\\":1,\\\"b\\\":1}\"}", NULL},
    {"{\"a\":1,\"a\\u0000\":2}", NULL},
};

static void check_doubled(void) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json json;
        struct json_error error;
        CHECK_INTEGER(json_read(&arena, slice_of(texts[i].json), &json, &error), 0);
        struct slice found = json_doubled_name(json, &arena);
        CHECK_INTEGER_AS(texts[i].json, found.p != NULL, texts[i].doubled != NULL);
        CHECK_SLICE_AS(texts[i].json, found, slice_of(texts[i].doubled));
    }
}

int main(void) {
    arena_init(&arena, 1024 * 1024, NULL);
    check_names();
    check_raw();
    check_clashes();
    check_doubled();
    arena_free(&arena);
    return check_failures();
}
