/* The JSON writer: a string of any bytes is written as valid JSON and reads back unchanged, apart
 * from invalid UTF-8, which is replaced. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct json_writer w;
    struct json value;
    struct json_error error;
    struct slice text = fuzz_copy(data, size);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    json_write_start(&w, &arena);
    json_write_object(&w, NULL);
    json_write_string(&w, "text", text);
    json_write_array(&w, "list");
    json_write_integer(&w, NULL, (int64_t)size);
    json_write_end(&w);
    json_write_end(&w);
    MUST(json_read(&arena, json_written(&w), &value, &error) == 0);
    struct slice back = json_string(json_get(value, "text"), &arena);
    MUST(!utf8_valid(text) || slice_equal(back, text));
    arena_free(&arena);
    free((char *)(size_t)text.p);
    return 0;
}
