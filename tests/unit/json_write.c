/* The JSON writer: commas, brackets, escapes, and values inserted unchanged. */
#include "base/json.h"
#include "compare.h"

static struct arena arena;

static struct slice written_string(struct slice string) {
    struct json_writer w;
    json_write_start(&w, &arena);
    json_write_string(&w, NULL, string);
    return json_written(&w);
}

static void check_shape(void) {
    struct json_writer w;
    json_write_start(&w, &arena);
    json_write_object(&w, NULL);
    json_write_array(&w, "empty");
    json_write_end(&w);
    json_write_object(&w, "nothing");
    json_write_end(&w);
    json_write_array(&w, "list");
    json_write_integer(&w, NULL, INT64_MIN);
    json_write_integer(&w, NULL, INT64_MAX);
    json_write_bool(&w, NULL, true);
    json_write_null(&w, NULL);
    json_write_object(&w, NULL);
    json_write_text(&w, "a", "b");
    json_write_end(&w);
    json_write_end(&w);
    json_write_bool(&w, "no", false);
    json_write_text(&w, "absent", NULL);
    json_write_time(&w, "at", 1795219200123);
    json_write_raw(&w, "raw", SLICE(" [9007199254740993, 1e400]"));
    json_write_raw(&w, "none", (struct slice){NULL, 0});
    json_write_raw(&w, "hollow", SLICE(""));
    json_write_end(&w);
    CHECK_SLICE(json_written(&w),
                SLICE("{\"empty\":[],\"nothing\":{},\"list\":[-9223372036854775808,"
                      "9223372036854775807,true,null,{\"a\":\"b\"}],\"no\":false,\"absent\":null,"
                      "\"at\":\"2026-11-21T00:00:00.123Z\",\"raw\": [9007199254740993, 1e400],"
                      "\"none\":null,\"hollow\":null}"));
}

static const struct {
    struct slice string, json;
} strings[] = {
    {SLICE(""), SLICE("\"\"")},
    {SLICE("a/b"), SLICE("\"a/b\"")},
    {SLICE("\"\\"), SLICE("\"\\\"\\\\\"")},
    {SLICE("\n\t\r\0\x1f\x7f"), SLICE("\"\\n\\u0009\\u000d\\u0000\\u001f\\u007f\"")},
    {SLICE("\xc3\xa9\xf0\x9f\x98\x80"), SLICE("\"\xc3\xa9\xf0\x9f\x98\x80\"")},
    {SLICE("a\xff"
           "b"),
     SLICE("\"a\xef\xbf\xbd"
           "b\"")},
    {SLICE("\xed\xa0\x80"), SLICE("\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"")},
    {SLICE("cut \xe2\x82"), SLICE("\"cut \xef\xbf\xbd\xef\xbf\xbd\"")},
};

/* Every string of two bytes is written as valid JSON; UTF-8 reads back unchanged. */
static void check_all_pairs(void) {
    struct arena own;
    arena_init(&own, 1024 * 1024, NULL);
    for (int i = 0; i < 65536; i++) {
        const char bytes[] = {(char)(i >> 8), (char)(i & 0xff)};
        struct json_writer w;
        struct json value;
        struct json_error error;
        json_write_start(&w, &own);
        json_write_string(&w, NULL, (struct slice){bytes, 2});
        bool is_json = json_read(&own, json_written(&w), &value, &error) == 0;
        CHECK(is_json);
        if (is_json && (i & 0x8080) == 0)
            CHECK_SLICE(json_string(value, &own), ((struct slice){bytes, 2}));
        arena_reset(&own);
    }
    arena_free(&own);
}

static void check_depth(void) {
    struct json_writer w;
    struct json value;
    struct json_error error;
    json_write_start(&w, &arena);
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        json_write_array(&w, NULL);
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        json_write_end(&w);
    CHECK_INTEGER(json_written(&w).n, 2 * JSON_MAX_DEPTH);
    CHECK_INTEGER(json_read(&arena, json_written(&w), &value, &error), 0);
}

/* The text closes what is open, once. */
static void check_closing(void) {
    struct json_writer w;
    json_write_start_object(&w, &arena);
    json_write_array(&w, "list");
    json_write_object(&w, NULL);
    CHECK_SLICE(json_written(&w), SLICE("{\"list\":[{}]}"));
    CHECK_SLICE(json_written(&w), SLICE("{\"list\":[{}]}"));
}

int main(void) {
    arena_init(&arena, 16 * 1024 * 1024, NULL);
    check_shape();
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        CHECK_SLICE_AS(strings[i].json.p, written_string(strings[i].string), strings[i].json);
    check_all_pairs();
    check_depth();
    check_closing();
    arena_free(&arena);
    return check_failures();
}
