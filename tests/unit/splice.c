/* The links in the platform's answers, replaced byte by byte. */
#include "graph/splice.h"

#include "compare.h"

static struct arena arena;

#define BASE "https://gw.example/v23.0"

static struct json read(const char *text) {
    struct json value = {0};
    struct json_error error;
    check(json_read(&arena, slice_of(text), &value, &error) == 0, "%s", text);
    return value;
}

/* --- pages --- */

/* A link of the platform, and what a client gets instead: without and with its token. */
static const struct {
    const char *link, *plain, *with_token;
} links[] = {
    {"https://graph.facebook.com/v26.0/1/message_templates?access_token=EAA&limit=25&after=QQ",
     BASE "/1/message_templates?limit=25&after=QQ",
     BASE "/1/message_templates?limit=25&after=QQ&access_token=sb_1"},
    {"https:\\/\\/graph.facebook.com\\/v26.0\\/1\\/flows?limit=25&access_token=EAA&after=Q\\/Q",
     BASE "\\/1\\/flows?limit=25&after=Q\\/Q",
     BASE "\\/1\\/flows?limit=25&after=Q\\/Q&access_token=sb_1"},
    {"https://graph.facebook.com/v26.0/1?a=1\\u0026access_token\\u003dEAA\\u0026b=\\u00252F",
     BASE "/1?a=1\\u0026b=\\u00252F", BASE "/1?a=1\\u0026b=\\u00252F&access_token=sb_1"},
    {"http://127.0.0.1:8080/v26.0/1?access_token=EAA", BASE "/1", BASE "/1?access_token=sb_1"},
    {"HTTPS://graph.facebook.com/1?after=Q", BASE "/1?after=Q",
     BASE "/1?after=Q&access_token=sb_1"},
    {"https://graph.facebook.com/v26/1", BASE "/v26/1", BASE "/v26/1?access_token=sb_1"},
    {"https://graph.facebook.com/v26.0x/1", BASE "/v26.0x/1", BASE "/v26.0x/1?access_token=sb_1"},
    {"https://graph.facebook.com/v26.0", BASE, BASE "?access_token=sb_1"},
    {"https://graph.facebook.com/v26.0?a=1#x", BASE "?a=1#x", BASE "?a=1&access_token=sb_1#x"},
    {"https://graph.facebook.com", BASE, BASE "?access_token=sb_1"},
    {"https://graph.facebook.com/v26.0/1?access_token=A&access_token=B&c=\\u00e9",
     BASE "/1?c=\\u00e9", BASE "/1?c=\\u00e9&access_token=sb_1"},
    {"/1/flows?after=Q&access_token=A", "/1/flows?after=Q", "/1/flows?after=Q&access_token=sb_1"},
    {"", "", "?access_token=sb_1"},
};

static void check_link(const char *before, const char *after, const char *token) {
    static const char form[] =
        "{ \"data\" : [1e400, {\"next\":\"https://x/?access_token=1\"}] ,\"paging\": {\"cursors\":"
        "{\"after\":\"Q\\/\"},\"next\" : \"%s\",\"previous\":\"%s\"}\n}";
    const struct link_change change = {BASE, token};
    struct slice found =
        splice_paging(&arena, read(arena_printf(&arena, form, before, before)), &change);
    CHECK_SLICE_AS(before, found, slice_of(arena_printf(&arena, form, after, after)));
}

/* Answers in which only some links change. */
static const struct {
    const char *before, *after;
} answers[] = {
    {"{\"paging\":{\"other\":\"https://g/v26.0/1?access_token=A\"}}", NULL},
    {"{\"paging\":{\"next\":null,\"previous\":7}}", NULL},
    {"{\"paging\":[{\"next\":\"https://g/v26.0/1?access_token=A\"}]}", NULL},
    {"{\"paging\":\"https://g/v26.0/1?access_token=A\"}", NULL},
    {"{\"data\":[{\"paging\":{\"next\":\"https://g/v26.0/1?a=1\"}}]}", NULL},
    {"{\"next\":\"https://g/v26.0/1?access_token=A\"}", NULL},
    {"{\"a\":{\"paging\":{\"next\":\"https://g/v26.0/1?my_access_token=A\"}}}", NULL},
    {"{\"a\":{\"data\":[],\"paging\":{\"next\":\"https://g/v26.0/1?access_token=A\"}},\"b\":1}",
     "{\"a\":{\"data\":[],\"paging\":{\"next\":\"" BASE "/1\"}},\"b\":1}"},
    {"[{\"paging\":{\"next\":\"https://g/v26.0/1?access_token=A&b=2\"}}]",
     "[{\"paging\":{\"next\":\"" BASE "/1?b=2\"}}]"},
    {"{\"pag\\u0069ng\":{\"n\\u0065xt\":\"https://g/v26.0/1?access_token=A\"}}",
     "{\"pag\\u0069ng\":{\"n\\u0065xt\":\"" BASE "/1\"}}"},
    {"{\"paging\":{\"next\":\"https://g/1\",\"next\":\"https://g/2\"},\"paging\":{\"previous\":"
     "\"https://g/3\"}}",
     "{\"paging\":{\"next\":\"" BASE "/1\",\"next\":\"" BASE "/2\"},\"paging\":{\"previous\":"
     "\"" BASE "/3\"}}"},
    {"{}", NULL},
    {"[]", NULL},
    {"7", NULL},
};

static void check_answers(void) {
    const struct link_change change = {BASE, NULL};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const char *after = answers[i].after ? answers[i].after : answers[i].before;
        CHECK_SLICE_AS(answers[i].before, splice_paging(&arena, read(answers[i].before), &change),
                       slice_of(after));
    }
}

/* --- media --- */

static const struct {
    const char *before, *after; /* NULL: unchanged */
} media[] = {
    {"{\"url\":\"https:\\/\\/lookaside.fbsbx.com\\/a?b=1&c\",\"mime_type\":\"image\\/png\"}",
     "{\"url\":\"https://gw/m?1\",\"mime_type\":\"image\\/png\"}"},
    {"{ \"id\" : \"1\", \"u\\u0072l\"\n:\t\"x\" , \"file_size\":1e3 } ",
     "{ \"id\" : \"1\", \"u\\u0072l\"\n:\t\"https://gw/m?1\" , \"file_size\":1e3 }"},
    {"{\"url\":\"\"}", "{\"url\":\"https://gw/m?1\"}"},
    {"{\"url\":\"a\",\"url\":\"b\"}", "{\"url\":\"https://gw/m?1\",\"url\":\"https://gw/m?1\"}"},
    {"{\"a\":{\"url\":\"x\"},\"b\":[{\"url\":\"y\"}],\"urls\":\"z\"}", NULL},
    {"{\"url\":null}", NULL},
    {"{\"url\":{\"url\":\"x\"}}", NULL},
    {"{}", NULL},
};

static void check_media(void) {
    for (size_t i = 0; i < sizeof media / sizeof *media; i++) {
        const char *after = media[i].after ? media[i].after : media[i].before;
        CHECK_SLICE_AS(media[i].before,
                       splice_media_url(&arena, read(media[i].before), "https://gw/m?1"),
                       slice_of(after));
    }
}

int main(void) {
    arena_init(&arena, 1024 * 1024, NULL);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        check_link(links[i].link, links[i].plain, NULL);
        check_link(links[i].link, links[i].with_token, "sb_1");
        CHECK_INTEGER_AS(links[i].link, link_has_token(slice_of(links[i].link)),
                         strstr(links[i].link, "access_token") != NULL);
    }
    check_answers();
    check_media();
    arena_free(&arena);
    return check_failures();
}
