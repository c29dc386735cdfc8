/* Checks of bodies and queries against declared fields: every issue, with its path. */
#include "web/field.h"

#include <time.h>

#include "compare.h"

static struct arena arena;

static const char *check_even(struct slice text) {
    return text.n % 2 ? "must have an even length" : NULL;
}

static const struct text_rule even = {.meaning = "even", .longest = 4, .check = check_even};

static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const either[] = {"a", "b", "c", NULL};

static const struct field row_fields[] = {
    {.name = "id", .type = FIELD_STRING, .required = true},
    {.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50},
    {0},
};

static const struct field section_fields[] = {
    {.name = "title", .type = FIELD_STRING, .required = true},
    {.name = "rows",
     .type = FIELD_ARRAY,
     .required = true,
     .min = 1,
     .max = 3,
     .fields = row_fields},
    {0},
};

/* A table of one field, and the issues of bodies. */
static const struct {
    struct field field;
    const char *json, *issues; /* `path:code`, separated by spaces */
} cases[] = {
    {{.name = "s", .type = FIELD_STRING, .required = true}, "{\"s\":\"x\"}", ""},
    {{.name = "s", .type = FIELD_STRING, .required = true}, "{}", "s:required"},
    {{.name = "s", .type = FIELD_STRING, .required = true}, "{\"S\":\"x\"}", "s:required"},
    {{.name = "s", .type = FIELD_STRING, .required = true}, "{\"s\":null}", "s:invalid_type"},
    {{.name = "s", .type = FIELD_STRING, .required = true}, "{\"s\":5}", "s:invalid_type"},
    {{.name = "s", .type = FIELD_STRING, .required = true}, "{\"s\":[\"x\"]}", "s:invalid_type"},
    {{.name = "s", .type = FIELD_STRING, .required = true}, "{\"s\":\"\"}", "s:empty"},
    {{.name = "s", .type = FIELD_STRING, .required = true}, "{\"s\":1,\"s\":\"x\"}", ""},
    {{.name = "s", .type = FIELD_STRING, .required = true},
     "{\"s\":\"x\",\"s\":1}",
     "s:invalid_type"},
    {{.name = "s", .type = FIELD_STRING}, "{}", ""},
    {{.name = "s", .type = FIELD_STRING}, "{\"s\":null}", "s:invalid_type"},
    {{.name = "s", .type = FIELD_STRING}, "{\"s\":\"\"}", "s:empty"},
    {{.name = "s", .type = FIELD_STRING, .may_be_empty = true}, "{\"s\":\"\"}", ""},
    {{.name = "s", .type = FIELD_STRING, .required = true, .may_be_empty = true},
     "{\"s\":\"\"}",
     ""},
    {{.name = "s", .type = FIELD_STRING, .required = true, .may_be_empty = true},
     "{}",
     "s:required"},
    {{.name = "s", .type = FIELD_STRING, .required = true, .may_be_empty = true},
     "{\"s\":null}",
     "s:invalid_type"},
    {{.name = "s", .type = FIELD_STRING, .values = colours}, "{\"s\":\"green\"}", ""},
    {{.name = "s", .type = FIELD_STRING, .values = colours}, "{\"s\":\"gr\\u0065en\"}", ""},
    {{.name = "s", .type = FIELD_STRING, .values = colours},
     "{\"s\":\"Green\"}",
     "s:invalid_value"},
    {{.name = "s", .type = FIELD_STRING, .values = colours},
     "{\"s\":\"green\\u0000\"}",
     "s:invalid_value"},
    {{.name = "s", .type = FIELD_STRING, .rule = &even}, "{\"s\":\"\\u00e9\"}", ""},
    {{.name = "s", .type = FIELD_STRING, .rule = &even}, "{\"s\":\"abc\"}", "s:invalid_value"},
    {{.name = "s", .type = FIELD_STRING, .rule = &even}, "{\"s\":\"\\u00e9bc\"}", ""},
    {{.name = "s", .type = FIELD_STRING, .rule = &even},
     "{\"s\":\"\\u00e9bcde\"}",
     "s:invalid_value"},
    {{.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50}, "{\"n\":1}", ""},
    {{.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50}, "{\"n\":50}", ""},
    {{.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50}, "{\"n\":0}", "n:out_of_range"},
    {{.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50}, "{\"n\":51}", "n:out_of_range"},
    {{.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50}, "{\"n\":1.5}", "n:invalid_type"},
    {{.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50}, "{\"n\":1e400}", "n:invalid_type"},
    {{.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50}, "{\"n\":\"5\"}", "n:invalid_type"},
    {{.name = "n", .type = FIELD_INTEGER}, "{\"n\":9223372036854775807}", ""},
    {{.name = "v", .type = FIELD_STRING_OR_NUMBER, .required = true}, "{\"v\":1e400}", ""},
    {{.name = "v", .type = FIELD_STRING_OR_NUMBER, .required = true}, "{\"v\":\"1\"}", ""},
    {{.name = "v", .type = FIELD_STRING_OR_NUMBER, .required = true}, "{\"v\":\"\"}", "v:empty"},
    {{.name = "v", .type = FIELD_STRING_OR_NUMBER, .required = true},
     "{\"v\":true}",
     "v:invalid_type"},
    {{.name = "v", .type = FIELD_STRING_OR_NUMBER, .required = true},
     "{\"v\":{}}",
     "v:invalid_type"},
    {{.name = "b", .type = FIELD_BOOLEAN, .required = true}, "{\"b\":true}", ""},
    {{.name = "b", .type = FIELD_BOOLEAN, .required = true}, "{\"b\":false}", ""},
    {{.name = "b", .type = FIELD_BOOLEAN, .required = true}, "{}", "b:required"},
    {{.name = "b", .type = FIELD_BOOLEAN}, "{\"b\":\"true\"}", "b:invalid_type"},
    {{.name = "b", .type = FIELD_BOOLEAN}, "{\"b\":1}", "b:invalid_type"},
    {{.name = "b", .type = FIELD_BOOLEAN}, "{\"b\":null}", "b:invalid_type"},
    {{.name = "o", .type = FIELD_OBJECT, .required = true, .fields = row_fields},
     "{\"o\":{}}",
     "o.id:required"},
    {{.name = "o", .type = FIELD_OBJECT, .required = true, .fields = row_fields},
     "{\"o\":[]}",
     "o:invalid_type"},
    {{.name = "o", .type = FIELD_OBJECT}, "{\"o\":{\"anything\":[1]}}", ""},
    {{.name = "a", .type = FIELD_ARRAY}, "{\"a\":[1,null,{}]}", ""},
    {{.name = "a", .type = FIELD_ARRAY}, "{\"a\":{}}", "a:invalid_type"},
    {{.name = "a", .type = FIELD_ARRAY, .min = 2, .max = 3}, "{\"a\":[1]}", "a:too_few"},
    {{.name = "a", .type = FIELD_ARRAY, .min = 2, .max = 3}, "{\"a\":[1,2]}", ""},
    {{.name = "a", .type = FIELD_ARRAY, .min = 2, .max = 3}, "{\"a\":[1,2,3]}", ""},
    {{.name = "a", .type = FIELD_ARRAY, .min = 2, .max = 3}, "{\"a\":[1,2,3,4]}", "a:too_many"},
    {{.name = "a", .type = FIELD_ARRAY, .min = 1, .fields = row_fields}, "{\"a\":[]}", "a:too_few"},
    {{.name = "a", .type = FIELD_ARRAY, .min = 1, .fields = row_fields},
     "{\"a\":[{\"id\":\"x\"},7,{\"id\":7},{}]}",
     "a[1]:invalid_type a[2].id:invalid_type a[3].id:required"},
    {{.name = "s", .type = FIELD_ARRAY, .min = 1, .fields = section_fields},
     "{\"s\":[{\"title\":\"\",\"rows\":[]},{\"title\":\"t\",\"rows\":[{\"id\":\"a\"},{\"n\":99}]}]"
     "}",
     "s[0].title:empty s[0].rows:too_few s[1].rows[1].id:required s[1].rows[1].n:out_of_range"},
    {{.name = "t", .type = FIELD_STRINGS}, "{\"t\":[\"x\",\"y\"]}", ""},
    {{.name = "t", .type = FIELD_STRINGS}, "{\"t\":[]}", ""},
    {{.name = "t", .type = FIELD_STRINGS}, "{\"t\":\"x\"}", "t:invalid_type"},
    {{.name = "t", .type = FIELD_STRINGS}, "{\"t\":null}", "t:invalid_type"},
    {{.name = "t", .type = FIELD_STRINGS, .may_be_null = true}, "{\"t\":null}", ""},
    {{.name = "t", .type = FIELD_STRINGS, .may_be_null = true}, "{\"t\":false}", "t:invalid_type"},
    {{.name = "t", .type = FIELD_STRINGS, .required = true, .may_be_null = true},
     "{}",
     "t:required"},
    {{.name = "t", .type = FIELD_STRINGS},
     "{\"t\":[\"x\",\"\",null,5,[\"x\"],{}]}",
     "t[1]:empty t[2]:invalid_type t[3]:invalid_type t[4]:invalid_type t[5]:invalid_type"},
    {{.name = "t", .type = FIELD_STRINGS, .may_be_empty = true}, "{\"t\":[\"\"]}", ""},
    {{.name = "t", .type = FIELD_STRINGS, .values = colours},
     "{\"t\":[\"red\",\"Red\",\"bl\\u0075e\"]}",
     "t[1]:invalid_value"},
    {{.name = "t", .type = FIELD_STRINGS, .rule = &even},
     "{\"t\":[\"ab\",\"abc\",\"abcdef\"]}",
     "t[1]:invalid_value t[2]:invalid_value"},
    {{.name = "t", .type = FIELD_STRINGS, .min = 1, .max = 2}, "{\"t\":[]}", "t:too_few"},
    {{.name = "t", .type = FIELD_STRINGS, .min = 1, .max = 2},
     "{\"t\":[\"x\",\"\",\"x\"]}",
     "t[1]:empty t:too_many"},
    {{.type = FIELD_ONE_OF, .names = either}, "{\"c\":null}", ""},
    {{.type = FIELD_ONE_OF, .names = either}, "{\"d\":1}", "a:one_of"},
    {{.type = FIELD_ONE_OF, .names = either}, "{\"c\":1,\"a\":1}", ""},
    {{.type = FIELD_ONE_OF, .names = either, .max = 1}, "{\"c\":null}", ""},
    {{.type = FIELD_ONE_OF, .names = either, .max = 1}, "{\"d\":1}", "a:one_of"},
    {{.type = FIELD_ONE_OF, .names = either, .max = 1}, "{\"c\":1,\"a\":1}", "c:one_of"},
};

/* The issues as `path:code`, separated by spaces. */
static const char *summary(struct issues *issues) {
    struct json list;
    struct json_error error;
    struct buffer text = buffer_in(&arena);
    CHECK_INTEGER(json_read(&arena, issues_written(issues), &list, &error), 0);
    for (struct json i = json_first(list); json_is(i); i = json_next(i)) {
        CHECK_INTEGER(json_count(i), 3);
        CHECK(json_text(json_get(i, "message"), &arena) != NULL);
        buffer_printf(&text, "%s%s:%s", text.n ? " " : "", json_text(json_get(i, "path"), &arena),
                      json_text(json_get(i, "code"), &arena));
    }
    return buffer_slice(&text).p;
}

static void check_cases(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct field fields[] = {cases[i].field, {0}};
        struct json value;
        struct json_error error;
        struct issues issues;
        issues_start(&issues, &arena);
        CHECK_INTEGER_AS(cases[i].json, json_read(&arena, slice_of(cases[i].json), &value, &error),
                         0);
        field_check(fields, value, "", &issues);
        CHECK_INTEGER_AS(cases[i].json, issues.count > 0, *cases[i].issues != '\0');
        CHECK_TEXT_AS(cases[i].json, summary(&issues), cases[i].issues);
    }
}

static const struct field query_fields[] = {
    {.name = "limit", .type = FIELD_INTEGER, .min = 1, .max = 50},
    {.name = "name", .type = FIELD_STRING},
    {.name = "kind", .type = FIELD_STRING, .values = colours},
    {0},
};

static const struct {
    const char *query, *issues;
} queries[] = {
    {"", ""},
    {"limit=1&name=x&kind=red&other=", ""},
    {"limit=50", ""},
    {"limit=007", ""},
    {"limit=0", "limit:out_of_range"},
    {"limit=51", "limit:out_of_range"},
    {"limit=-1", "limit:out_of_range"},
    {"limit=", "limit:invalid_type"},
    {"limit", "limit:invalid_type"},
    {"limit=abc", "limit:invalid_type"},
    {"limit=1.0", "limit:invalid_type"},
    {"limit=1e1", "limit:invalid_type"},
    {"limit=+5", "limit:invalid_type"}, /* + is a space */
    {"limit=%205", "limit:invalid_type"},
    {"limit=5%20", "limit:invalid_type"},
    {"limit=0x10", "limit:invalid_type"},
    {"limit=-", "limit:invalid_type"},
    {"limit=99999999999999999999", "limit:invalid_type"},
    {"limit=5&limit=99", ""},
    {"limit=99&limit=5", "limit:out_of_range"},
    {"name=", "name:empty"},
    {"kind=pink&limit=x", "limit:invalid_type kind:invalid_value"},
};

static void check_queries(void) {
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct query query;
        struct issues issues;
        const char *error;
        issues_start(&issues, &arena);
        CHECK_INTEGER(query_read(&arena, queries[i].query, &query, &error), 0);
        field_check_query(query_fields, &query, &issues);
        CHECK_TEXT_AS(queries[i].query, summary(&issues), queries[i].issues);
    }
}

static void check_messages(void) {
    static const struct field fields[] = {
        {.name = "colour", .type = FIELD_STRING, .required = true, .values = colours},
        {.name = "sections",
         .type = FIELD_ARRAY,
         .required = true,
         .min = 1,
         .fields = section_fields},
        {.type = FIELD_ONE_OF, .names = either},
        {0},
    };
    struct json value;
    struct json_error error;
    struct issues issues;
    issues_start(&issues, &arena);
    CHECK_INTEGER(json_read(&arena, SLICE("{\"colour\":\"pink\",\"sections\":[]}"), &value, &error),
                  0);
    field_check(fields, value, "", &issues);
    CHECK_INTEGER(issues.count, 3);
    CHECK_TEXT(issues.first, "colour must be red, green or blue");
    CHECK_SLICE(issues_written(&issues),
                SLICE("[{\"path\":\"colour\",\"code\":\"invalid_value\","
                      "\"message\":\"must be red, green or blue\"},"
                      "{\"path\":\"sections\",\"code\":\"too_few\","
                      "\"message\":\"must hold at least 1 item, not 0\"},"
                      "{\"path\":\"a\",\"code\":\"one_of\","
                      "\"message\":\"must be sent, or b or c instead\"}]"));
}

/* A body with very many errors has a list of bounded length and the full count. */
static void check_flood(void) {
    struct buffer text = buffer_in(&arena);
    struct issues issues;
    struct json value;
    struct json_error error;
    static const struct field fields[] = {{.name = "a", .type = FIELD_ARRAY, .fields = row_fields},
                                          {0}};
    buffer_add_text(&text, "{\"a\":[0");
    for (int i = 1; i < 500000; i++)
        buffer_add_text(&text, ",0");
    buffer_add_text(&text, "]}");
    issues_start(&issues, &arena);
    CHECK_INTEGER(json_read(&arena, buffer_slice(&text), &value, &error), 0);
    field_check(fields, value, "", &issues);
    CHECK_INTEGER(issues.count, 500000);
    CHECK_TEXT(issues.first, "a[0] must be an object, not number");
    struct slice list = issues_written(&issues);
    CHECK(list.n < 256 * 1024);
    CHECK_INTEGER(json_read(&arena, list, &value, &error), 0);
    CHECK_INTEGER(json_count(value), ISSUES_LISTED);
}

static const struct field strict_fields[] = {
    {.name = "s", .type = FIELD_ARRAY, .fields = section_fields},
    {.name = "free", .type = FIELD_ARRAY},
    {.name = "o", .type = FIELD_OBJECT, .fields = row_fields},
    {.name = "any", .type = FIELD_OBJECT},
    {.type = FIELD_ONE_OF, .names = either},
    {.name = "a", .type = FIELD_STRING},
    {0},
};

static const struct {
    const char *json, *issues;
} strict[] = {
    {"{\"a\":\"x\"}", ""},
    {"{\"a\":\"x\",\"A\":\"x\"}", "A:unknown_field"},
    {"{\"\":1,\"a\":\"x\",\"c\":1,\"x\":{\"y\":1}}",
     ":unknown_field c:unknown_field x:unknown_field"},
    {"{\"a\":\"x\",\"\\u0061\":\"x\",\"\\u0062\":1}", "\\u0062:unknown_field"},
    {"{\"a\":\"x\",\"x\":1,\"x\":2}", "x:unknown_field x:unknown_field"},
    {"{\"a\":\"x\",\"free\":[{\"x\":1}],\"any\":{\"x\":{\"y\":1}}}", ""},
    {"{\"a\":\"x\",\"o\":{\"id\":\"i\",\"x\":1}}", "o.x:unknown_field"},
    {"{\"a\":\"x\",\"o\":{\"x\":1}}", "o.id:required o.x:unknown_field"},
    {"{\"a\":\"x\",\"o\":[{\"x\":1}]}", "o:invalid_type"},
    {"{\"a\":\"x\",\"s\":[{\"title\":\"t\",\"rows\":[{\"id\":\"i\"},{\"id\":\"i\",\"x\":1}],\"y\":"
     "1},"
     "{\"title\":\"t\",\"rows\":[{\"id\":\"i\"}]}]}",
     "s[0].rows[1].x:unknown_field s[0].y:unknown_field"},
};

static void check_strict(void) {
    for (size_t i = 0; i < sizeof strict / sizeof *strict; i++) {
        struct json value;
        struct json_error error;
        struct issues issues;
        issues_start(&issues, &arena);
        issues.is_strict = true;
        CHECK_INTEGER_AS(strict[i].json,
                         json_read(&arena, slice_of(strict[i].json), &value, &error), 0);
        field_check(strict_fields, value, "", &issues);
        CHECK_TEXT_AS(strict[i].json, summary(&issues), strict[i].issues);
    }
    struct query query;
    struct issues issues;
    const char *error;
    issues_start(&issues, &arena);
    issues.is_strict = true;
    CHECK_INTEGER(query_read(&arena, "limit=99&x%20y&limit=5&Limit&name=n", &query, &error), 0);
    field_check_query(query_fields, &query, &issues);
    CHECK_TEXT(summary(&issues), "limit:out_of_range x y:unknown_field Limit:unknown_field");
}

/* The path shows at most 100 bytes of an unknown name, and never a part of a character. */
static void check_long_names(void) {
    struct buffer text = buffer_in(&arena);
    struct json value, list;
    struct json_error error;
    struct issues issues;
    buffer_add_text(&text, "{\"a\":\"x\",\"n");
    for (int i = 0; i < 1000; i++)
        buffer_add_text(&text, "\xc3\xa9");
    buffer_add_text(&text, "\":1}");
    issues_start(&issues, &arena);
    issues.is_strict = true;
    CHECK_INTEGER(json_read(&arena, buffer_slice(&text), &value, &error), 0);
    field_check(strict_fields, value, "", &issues);
    CHECK_INTEGER(json_read(&arena, issues_written(&issues), &list, &error), 0);
    CHECK_INTEGER(json_string(json_get(json_first(list), "path"), &arena).n, 101);
}

/* The processor time in ns of a check of `count` items, the minimum of several runs. The memory for
 * issues is bounded. */
static int64_t check_time(const char *item, int count, bool is_strict) {
    struct arena own, memory;
    struct issues issues;
    struct json value;
    struct json_error error;
    struct timespec from, to;
    int64_t best = INT64_MAX;
    static const struct field fields[] = {
        {.name = "a", .type = FIELD_ARRAY, .fields = section_fields}, {0}};
    arena_init(&own, 64 * 1024 * 1024, NULL);
    struct buffer text = buffer_in(&own);
    buffer_printf(&text, "{\"a\":[%s", item);
    for (int i = 1; i < count; i++)
        buffer_printf(&text, ",%s", item);
    buffer_add_text(&text, "]}");
    CHECK_INTEGER(json_read(&own, buffer_slice(&text), &value, &error), 0);
    for (int i = 0; i < 7; i++) {
        arena_init(&memory, 4 * 1024 * 1024, NULL); /* a full arena ends the program */
        issues_start(&issues, &memory);
        issues.is_strict = is_strict;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        field_check(fields, value, "", &issues);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        int64_t took = (to.tv_sec - from.tv_sec) * 1000000000LL + to.tv_nsec - from.tv_nsec;
        best = took < best ? took : best;
        arena_free(&memory);
    }
    arena_free(&own);
    return best;
}

/* Four times as many items take about four times as long; a quadratic check would take sixteen. */
static void check_growth(void) {
    static const char *const items[] = {"{}", "0", "{\"title\":\"t\",\"rows\":[]}",
                                        "{\"x\":1,\"title\":5}"};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        for (int is_strict = 0; is_strict < 2; is_strict++)
            CHECK(check_time(items[i], 80000, is_strict) <
                  10 * check_time(items[i], 20000, is_strict));
}

int main(void) {
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    check_cases();
    check_queries();
    check_messages();
    check_flood();
    check_strict();
    check_long_names();
    check_growth();
    arena_free(&arena);
    return check_failures();
}
