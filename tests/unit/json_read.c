/* The strict JSON reader: valid and invalid texts (RFC 8259), unchanged bytes, and access to the
 * values that were read. */
#include "base/json.h"
#include "compare.h"

static struct arena arena;

static int read_text(struct slice text, struct json *value, struct json_error *error) {
    *error = (struct json_error){0};
    return json_read(&arena, text, value, error);
}

/* The value of a text, which must be valid JSON. */
static struct json value_of(const char *text) {
    struct json value;
    struct json_error error;
    if (read_text(slice_of(text), &value, &error))
        check(false, "%s", text);
    return value;
}

static const struct slice accepted[] = {
    SLICE("null"),
    SLICE("true"),
    SLICE("false"),
    SLICE("0"),
    SLICE("-0"),
    SLICE("-0.0e-0"),
    SLICE("1E+9"),
    SLICE("1e400"),
    SLICE("0.1"),
    SLICE("9007199254740993"),
    SLICE("123456789012345678901234567890123456789012345678901234567890"),
    SLICE("\"\""),
    SLICE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\""),
    SLICE("\"\\u0000\""),
    SLICE("\"\\ud800\""), /* lone surrogates are accepted */
    SLICE("\"\\udfff\\ud800x\""),
    SLICE("\"/ \x7f \xc2\x80 \xdf\xbf\""),
    SLICE("\"\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf\""),
    SLICE("\"\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\""),
    SLICE("\"\xe2\x80\xa8\xef\xbb\xbf\""), /* U+2028 and a BOM inside of a string */
    SLICE("[]"),
    SLICE("[ ]"),
    SLICE("{}"),
    SLICE("{\t}"),
    SLICE("[[],{},[{}]]"),
    SLICE("[1,2 , 3]"),
    SLICE("{\"\":0}"),
    SLICE("{\"a\":1,\"a\":2}"),
    SLICE(" \t\r\n{ \"a\" : [ 1 , null ] } \r\n"),
};

/* Invalid texts, the offset of the error, and a part of the reason. */
static const struct {
    struct slice text;
    size_t offset;
    const char *reason;
} refused[] = {
    {SLICE(""), 0, "ends where a value"},
    {{0}, 0, "ends where a value"}, /* absent bytes */
    {SLICE("  \n"), 3, "ends where a value"},
    {SLICE("\xef\xbb\xbf{}"), 0, "value was expected"}, /* RFC 8259 8.1 */
    {SLICE("\xff\xfe{\0}\0"), 0, "value was expected"},
    {SLICE("nul"), 0, "value was expected"},
    {SLICE("nulll"), 4, "nothing may follow"},
    {SLICE("True"), 0, "value was expected"},
    {SLICE("NaN"), 0, "value was expected"},
    {SLICE("-Infinity"), 1, "digit"},
    {SLICE("undefined"), 0, "value was expected"},
    {SLICE("'a'"), 0, "value was expected"},
    {SLICE("01"), 1, "nothing may follow"},
    {SLICE("-01"), 2, "nothing may follow"},
    {SLICE("+1"), 0, "value was expected"},
    {SLICE("-"), 1, "digit"},
    {SLICE(".5"), 0, "value was expected"},
    {SLICE("2."), 2, "decimal point"},
    {SLICE("2.e3"), 2, "decimal point"},
    {SLICE("1e"), 2, "exponent"},
    {SLICE("1e+"), 3, "exponent"},
    {SLICE("1.5e 3"), 4, "exponent"},
    {SLICE("0x10"), 1, "nothing may follow"},
    {SLICE("1_000"), 1, "nothing may follow"},
    {SLICE("1 2"), 2, "nothing may follow"},
    {SLICE("\""), 1, "ends inside a string"},
    {SLICE("\"a"), 2, "ends inside a string"},
    {SLICE("\"a\\"), 3, "ends inside a string"},
    {SLICE("\"\\x41\""), 2, "escape does not exist"},
    {SLICE("\"\\U0041\""), 2, "escape does not exist"},
    {SLICE("\"\\\0\""), 2, "escape does not exist"},
    {SLICE("\"\\'\""), 2, "escape does not exist"},
    {SLICE("\"\\u12\""), 5, "four hexadecimal"},
    {SLICE("\"\\u12g4\""), 5, "four hexadecimal"},
    {SLICE("\"\\u"), 3, "four hexadecimal"},
    {SLICE("\"\t\""), 1, "control characters"},
    {SLICE("\"a\0b\""), 2, "control characters"},
    {SLICE("\"\x1f\""), 1, "control characters"},
    {SLICE("\"\x80\""), 1, "UTF-8"},
    {SLICE("\"\xc0\xaf\""), 1, "UTF-8"},         /* overlong */
    {SLICE("\"\xe0\x80\x80\""), 1, "UTF-8"},     /* overlong */
    {SLICE("\"\xf0\x80\x80\x80\""), 1, "UTF-8"}, /* overlong */
    {SLICE("\"\xed\xa0\x80\""), 1, "UTF-8"},     /* a surrogate */
    {SLICE("\"\xf4\x90\x80\x80\""), 1, "UTF-8"}, /* above U+10FFFF */
    {SLICE("\"\xf8\x88\x80\x80\x80\""), 1, "UTF-8"},
    {SLICE("\"\xc3\""), 1, "UTF-8"},
    {SLICE("\"\xe2\x82"), 1, "UTF-8"},
    {SLICE("["), 1, "ends where a value"},
    {SLICE("[1"), 2, "ends inside an array"},
    {SLICE("[1,"), 3, "ends where a value"},
    {SLICE("[1,]"), 3, "value was expected"},
    {SLICE("[,1]"), 1, "value was expected"},
    {SLICE("[1,,2]"), 3, "value was expected"},
    {SLICE("[1 2]"), 3, "comma or ]"},
    {SLICE("[1}"), 2, "comma or ]"},
    {SLICE("]"), 0, "value was expected"},
    {SLICE("[]]"), 2, "nothing may follow"},
    {SLICE("[1]\f"), 3, "nothing may follow"},
    {SLICE("[1]\0"), 3, "nothing may follow"},
    {SLICE("[\v1]"), 1, "value was expected"},
    {SLICE("[1,\xc2\xa0"
           "2]"),
     3, "value was expected"},
    {SLICE("{"), 1, "ends inside an object"},
    {SLICE("{\"a\""), 4, "colon"},
    {SLICE("{\"a\" 1}"), 5, "colon"},
    {SLICE("{\"a\":}"), 5, "value was expected"},
    {SLICE("{\"a\":1"), 6, "ends inside an object"},
    {SLICE("{\"a\":1,}"), 7, "member name"},
    {SLICE("{,}"), 1, "member name"},
    {SLICE("{a:1}"), 1, "member name"},
    {SLICE("{1:2}"), 1, "member name"},
    {SLICE("{'a':1}"), 1, "member name"},
    {SLICE("{\"a\":1]"), 6, "comma or }"},
    {SLICE("{\"a\":1 \"b\":2}"), 7, "comma or }"},
    {SLICE("{\"a\":1,,\"b\":2}"), 7, "member name"},
    {SLICE("{\"a\":1/* no */}"), 6, "comma or }"},
    {SLICE("// no\n1"), 0, "value was expected"},
};

static void check_acceptance(void) {
    struct json value;
    struct json_error error;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        CHECK_INTEGER_AS(accepted[i].p, read_text(accepted[i], &value, &error), 0);
        CHECK_SLICE_AS(accepted[i].p, json_raw(value),
                       i + 1 < sizeof accepted / sizeof *accepted
                           ? accepted[i]
                           : SLICE("{ \"a\" : [ 1 , null ] }")); /* no outer white space */
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK_INTEGER_AS(refused[i].text.p, read_text(refused[i].text, &value, &error), -1);
        CHECK_INTEGER_AS(refused[i].text.p, error.offset, (int64_t)refused[i].offset);
        CHECK_HOLDS_AS(refused[i].text.p, error.reason, refused[i].reason);
        CHECK(!json_is(value));
    }
}

/* No proper prefix of a text is valid, except of a number at the top level. */
static void check_truncation(void) {
    const struct slice whole = SLICE("{\"a\":[1.5e3,\"\\u00e9\xc3\xa9\",null,true],\"b\":{}}");
    for (size_t n = 0; n < whole.n; n++) {
        struct json value;
        struct json_error error;
        /* a copy of exactly that size, so that a sanitizer detects a read past the end */
        char *bytes = malloc(n ? n : 1);
        memcpy(bytes, whole.p, n);
        CHECK_INTEGER(read_text((struct slice){bytes, n}, &value, &error), -1);
        CHECK(error.offset <= n);
        free(bytes);
    }
}

static void check_location(void) {
    struct json value;
    struct json_error error;
    read_text(SLICE("{\n  \"a\": 1,\n  \"b\": x\n}"), &value, &error);
    CHECK_INTEGER(error.line, 3);
    CHECK_INTEGER(error.column, 8);
    CHECK_INTEGER(error.offset, 19);
    read_text(SLICE("[\xc3\xa9"), &value, &error);
    CHECK_INTEGER(error.line, 1);
    CHECK_INTEGER(error.column, 2);
    read_text(SLICE("[\r\n1,\n"), &value, &error);
    CHECK_INTEGER(error.line, 3);
    CHECK_INTEGER(error.column, 1);
}

/* `opening` repeated `depth` times, a value, `closing` repeated `depth` times. */
static struct slice nested(size_t depth, const char *opening, const char *closing) {
    struct buffer text = buffer_in(&arena);
    for (size_t i = 0; i < depth; i++)
        buffer_add_text(&text, opening);
    buffer_add_text(&text, "0");
    for (size_t i = 0; i < depth; i++)
        buffer_add_text(&text, closing);
    return buffer_slice(&text);
}

static void check_limits(void) {
    struct json value;
    struct json_error error;
    CHECK_INTEGER(read_text(nested(JSON_MAX_DEPTH, "[", "]"), &value, &error), 0);
    CHECK_INTEGER(read_text(nested(JSON_MAX_DEPTH, "{\"a\":", "}"), &value, &error), 0);
    CHECK_INTEGER(read_text(nested(JSON_MAX_DEPTH + 1, "[", "]"), &value, &error), -1);
    CHECK_INTEGER(error.offset, JSON_MAX_DEPTH);
    CHECK_HOLDS(error.reason, "deeper than 128");
    CHECK_INTEGER(read_text(nested(100000, "[", ""), &value, &error), -1);
    CHECK_INTEGER(read_text(nested(100000, "{\"a\":", ""), &value, &error), -1);

    struct buffer text = buffer_in(&arena);
    buffer_add_char(&text, '[');
    for (int i = 0; i < JSON_MAX_VALUES - 2; i++)
        buffer_add_text(&text, "1,");
    buffer_add_text(&text, "1]");
    CHECK_INTEGER(read_text(buffer_slice(&text), &value, &error), 0);
    CHECK_INTEGER(json_count(value), JSON_MAX_VALUES - 1);
    text.n--;
    buffer_add_text(&text, ",1]");
    CHECK_INTEGER(read_text(buffer_slice(&text), &value, &error), -1);
    CHECK_HOLDS(error.reason, "more than 1000000 values");
}

static void check_lookup(void) {
    struct json object =
        value_of("{ \"a\":1, \"b\" : { \"c\":[10, {\"d\":\"deep\"} ,30] , \"a\":2},"
                 "\"a\":\"last\", \"\\u0065\\/\":5, \"\":6, \"A\":7 }");
    CHECK_INTEGER(json_type(object), JSON_OBJECT);
    CHECK_INTEGER(json_count(object), 6);
    CHECK_SLICE(json_raw(json_get(object, "a")), SLICE("\"last\""));
    CHECK_SLICE(json_raw(json_get(object, "b")),
                SLICE("{ \"c\":[10, {\"d\":\"deep\"} ,30] , \"a\":2}"));
    CHECK_SLICE(json_raw(json_get(object, "e/")), SLICE("5"));
    CHECK_SLICE(json_raw(json_get(object, "")), SLICE("6"));
    CHECK_SLICE(json_raw(json_get(object, "A")), SLICE("7"));
    CHECK(!json_is(json_get(object, "ab")));
    CHECK(!json_is(json_get(object, "e")));
    CHECK_SLICE(json_raw(json_find(object, "b.a")), SLICE("2"));
    CHECK(!json_is(json_find(object, "b.c.d")));
    CHECK(!json_is(json_find(object, "a.b")));
    CHECK_INTEGER(json_count(json_find(object, "b.c")), 3);

    struct json item = json_first(json_find(object, "b.c"));
    CHECK_SLICE(json_raw(item), SLICE("10"));
    item = json_next(item);
    CHECK_SLICE(json_raw(json_get(item, "d")), SLICE("\"deep\""));
    CHECK(!json_is(json_next(json_get(item, "d"))));
    item = json_next(item);
    CHECK_SLICE(json_raw(item), SLICE("30"));
    item = json_next(item);
    CHECK(!json_is(item));
    CHECK(!json_is(json_next(item)));

    static const char *const names[] = {"a", "b", "a", "e/", "", "A"};
    size_t n = 0;
    for (struct json member = json_first(object); json_is(member); member = json_next(member))
        CHECK_TEXT(json_name(member, &arena).p, names[n++]);
    CHECK_INTEGER(n, 6);
}

static void check_absence(void) {
    static const char *const others[] = {"[]", "{}", "1", "\"x\"", "null"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct json value = value_of(others[i]);
        CHECK(json_is(value));
        CHECK(!json_is(json_first(value)));
        CHECK(!json_is(json_get(value, "x")));
        CHECK(!json_is(json_next(value)));
        CHECK_INTEGER(json_count(value), 0);
        CHECK(!json_name(value, &arena).p);
    }
    struct json absent = {0};
    int64_t number;
    CHECK_INTEGER(json_type(absent), JSON_ABSENT);
    CHECK(!json_raw(absent).p && !json_string(absent, &arena).p && !json_text(absent, &arena));
    CHECK(!json_is(json_first(absent)) && !json_is(json_next(absent)));
    CHECK(!json_is(json_get(absent, "a")) && !json_equals(absent, ""));
    CHECK(!json_integer(absent, &number));
    CHECK_TEXT(json_type_name(json_type(value_of("[1]"))), "array");
    CHECK_TEXT(json_type_name(json_type(value_of("false"))), "boolean");
}

static const struct {
    const char *json;
    struct slice decoded;
} strings[] = {
    {"\"\"", SLICE("")},
    {"\"plain \xc3\xa9\"", SLICE("plain \xc3\xa9")},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", SLICE("\"\\/\b\f\n\r\t")},
    {"\"\\u0041\\u00e9\\u20AC\"", SLICE("A\xc3\xa9\xe2\x82\xac")},
    {"\"\\ud83d\\uDE00!\"", SLICE("\xf0\x9f\x98\x80!")},
    {"\"\\udbff\\udfff\"", SLICE("\xf4\x8f\xbf\xbf")},
    {"\"a\\u0000b\"", SLICE("a\0b")},
    {"\"\\ud83d\"", SLICE("\xef\xbf\xbd")},
    {"\"\\ude00\\ud83d\"", SLICE("\xef\xbf\xbd\xef\xbf\xbd")},
    {"\"\\ud83d\\u0041\"", SLICE("\xef\xbf\xbd"
                                 "A")},
    {"\"\\ud83d\\ud83d\\ude00\"", SLICE("\xef\xbf\xbd\xf0\x9f\x98\x80")},
    {"\"\\ud83dx\\ude00\"", SLICE("\xef\xbf\xbdx\xef\xbf\xbd")},
    {"\"\\ud83d\\n\"", SLICE("\xef\xbf\xbd\n")},
    {"\"\\\\u0041\"", SLICE("\\u0041")},
};

static void check_strings(void) {
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        struct slice decoded = json_string(value_of(strings[i].json), &arena);
        CHECK_SLICE_AS(strings[i].json, decoded, strings[i].decoded);
        CHECK(decoded.p && decoded.p[decoded.n] == '\0');
    }
    CHECK(!json_text(value_of("\"a\\u0000\""), &arena));
    CHECK_TEXT(json_text(value_of("\"a\\u0001\""), &arena), "a\x01");
    CHECK(!json_text(value_of("5"), &arena) && !json_string(value_of("null"), &arena).p);
    CHECK(json_equals(value_of("\"image\""), "image"));
    CHECK(json_equals(value_of("\"im\\u0061ge\""), "image"));
    CHECK(!json_equals(value_of("\"im\\u0061ges\""), "image"));
    CHECK(!json_equals(value_of("\"im\\u0061g\""), "image"));
    CHECK(!json_equals(value_of("\"image\\u0000\""), "image"));
    CHECK(!json_equals(value_of("[\"image\"]"), "image"));
}

static const struct {
    const char *json;
    bool is_integer;
    int64_t number;
} integers[] = {
    {"0", true, 0},
    {"-0", true, 0},
    {"17", true, 17},
    {"\"17\"", true, 17},
    {"\"-17\"", true, -17},
    {"9223372036854775807", true, INT64_MAX},
    {"-9223372036854775808", true, INT64_MIN},
    {"9223372036854775808", false, 0},
    {"\"-9223372036854775809\"", false, 0},
    {"100000000000000000000000000000000", false, 0},
    {"1.0", false, 0},
    {"1e3", false, 0},
    {"\"\"", false, 0},
    {"\"-\"", false, 0},
    {"\"1-2\"", false, 0},
    {"\"--1\"", false, 0},
    {"\"+1\"", false, 0},
    {"\" 1\"", false, 0},
    {"\"1 \"", false, 0},
    {"\"0x10\"", false, 0},
    {"\"\\u0031\"", false, 0},
    {"true", false, 0},
    {"[1]", false, 0},
};

static void check_integers(void) {
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        int64_t number = 0;
        CHECK_INTEGER_AS(integers[i].json, json_integer(value_of(integers[i].json), &number),
                         integers[i].is_integer);
        CHECK_INTEGER_AS(integers[i].json, number, integers[i].number);
    }
}

static const struct {
    const char *json, *tokens; /* the tokens of json_cut_token, joined by `|` */
} texts[] = {
    {"1", "1"},
    {" \t\r\n1\n", "1"},
    {"{\"a\":[1,2]}", "{\"a\":[1,2]}"},
    {"{ \"a b\" : [ 1 ,2 ] }", "{|\"a b\"|:|[|1|,2|]|}"},
    {"[\"\\\" \\\\\" ,\" \"]", "[\"\\\" \\\\\"|,\" \"]"},
    {"[ \"\" , null ]", "[|\"\"|,|null|]"},
};

static void check_tokens(void) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buffer found = buffer_in(&arena);
        for (struct slice rest = slice_of(texts[i].json), token;
             (token = json_cut_token(&rest)).n;) {
            buffer_add_text(&found, found.n ? "|" : "");
            buffer_add_slice(&found, token);
        }
        CHECK_TEXT_AS(texts[i].json, buffer_slice(&found).p, texts[i].tokens);
    }
}

int main(void) {
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    check_acceptance();
    check_truncation();
    check_location();
    check_limits();
    check_lookup();
    check_absence();
    check_strings();
    check_integers();
    check_tokens();
    arena_free(&arena);
    return check_failures();
}
