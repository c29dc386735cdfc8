/* Query strings: splitting and decoding (RFC 3986 3.4). */
#include "compare.h"
#include "web/field.h"

static struct arena arena;

static const struct {
    const char *text;
    const char *read; /* [name=value] for each parameter; NULL: refused */
} cases[] = {
    {NULL, ""},
    {"", ""},
    {"&", ""},
    {"&&a=1&&", "[a=1]"},
    {"a", "[a=]"},
    {"a=", "[a=]"},
    {"=a", "[=a]"},
    {"=", "[=]"},
    {"a=1=2", "[a=1=2]"},
    {"a=1&b=2&a=3", "[a=1][b=2][a=3]"},
    {"a+b=c+d", "[a b=c d]"},
    {"a%20b=c%2Bd%3d", "[a b=c+d=]"},
    {"%61=%4a%4A", "[a=JJ]"},
    {"a=%C3%A9\xc3\xa9", "[a=\xc3\xa9\xc3\xa9]"},
    {"a=b;c=d", "[a=b;c=d]"},
    {"a=%25%2541", "[a=%%41]"},
    {"a[]=1", "[a[]=1]"},
    {"a=%", NULL},
    {"a=%4", NULL},
    {"a=%4&b=41", NULL},
    {"a=%zz", NULL},
    {"%=1", NULL},
    {"a=%00", NULL},
    {"%00=a", NULL},
    {"a=%ff", NULL},
    {"a=%C3", NULL},
    {"a=%ED%A0%80", NULL},
    {"a=%C0%AF", NULL},
};

static void check_cases(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *label = cases[i].text ? cases[i].text : "(none)", *error = NULL;
        struct query query;
        struct buffer found = buffer_in(&arena);
        bool is_read = query_read(&arena, cases[i].text, &query, &error) == 0;
        CHECK_INTEGER_AS(label, is_read, cases[i].read != NULL);
        CHECK_INTEGER_AS(label, error != NULL, cases[i].read == NULL);
        for (size_t j = 0; is_read && j < query.count; j++) {
            struct slice value = query.values[j].value;
            buffer_printf(&found, "[%s=%s]", query.values[j].name.p, value.p);
            CHECK_INTEGER_AS(label, value.p[value.n], '\0');
        }
        if (is_read && cases[i].read)
            CHECK_SLICE_AS(label, buffer_slice(&found), slice_of(cases[i].read));
    }
}

static void check_lookup(void) {
    struct query query;
    const char *error;
    CHECK_INTEGER(query_read(&arena, "a=1&a=2&b=&A=3", &query, &error), 0);
    CHECK_SLICE(query_get(&query, "a"), SLICE("1")); /* the first one wins */
    CHECK_SLICE(query_get(&query, "A"), SLICE("3"));
    CHECK_SLICE(query_get(&query, "b"), SLICE(""));
    CHECK(!query_get(&query, "c").p && !query_get(&query, "").p);
}

static void check_limit(void) {
    struct buffer text = buffer_in(&arena);
    struct query query;
    const char *error = NULL;
    for (int i = 0; i < 100; i++)
        buffer_printf(&text, "&n%d=%d", i, i);
    CHECK_INTEGER(query_read(&arena, text.p, &query, &error), 0);
    CHECK_INTEGER(query.count, 100);
    CHECK_SLICE(query_get(&query, "n99"), SLICE("99"));
    buffer_add_text(&text, "&one=more");
    CHECK_INTEGER(query_read(&arena, text.p, &query, &error), -1);
    CHECK_HOLDS(error, "more than 100");
}

int main(void) {
    arena_init(&arena, 16 * 1024 * 1024, NULL);
    check_cases();
    check_lookup();
    check_limit();
    arena_free(&arena);
    return check_failures();
}
