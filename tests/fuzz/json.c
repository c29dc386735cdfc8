/* The strict JSON reader: cJSON accepts every text that it accepts, and reading changes no byte. */
#include <cjson/cJSON.h>

#include "fuzz.h"

/* Visits every value with every accessor, and counts the values. */
static size_t visit(struct arena *arena, struct json value, struct slice text) {
    struct slice raw = json_raw(value), string = json_string(value, arena);
    size_t n = 1;
    int64_t number;
    MUST(raw.p >= text.p && raw.p + raw.n <= text.p + text.n);
    MUST(!string.p || utf8_valid(string));
    json_integer(value, &number);
    for (struct json i = json_first(value); json_is(i); i = json_next(i)) {
        if (json_type(value) == JSON_OBJECT) {
            struct slice name = json_name(i, arena);
            MUST(name.p && utf8_valid(name));
            if (!memchr(name.p, '\0', name.n))
                MUST(json_is(json_get(value, name.p)));
        }
        n += visit(arena, i, text);
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct json value, again;
    struct json_error error;
    struct slice text = fuzz_copy(data, size);
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    if (json_read(&arena, text, &value, &error) == 0) {
        struct slice raw = json_raw(value);
        size_t n = visit(&arena, value, text);
        MUST(json_read(&arena, raw, &again, &error) == 0 && visit(&arena, again, raw) == n);
        cJSON *tree = cJSON_ParseWithLength(text.p, text.n);
        bool has_surrogate = memmem(text.p, text.n, "\\ud", 3) || memmem(text.p, text.n, "\\uD", 3);
        MUST(tree || has_surrogate); /* cJSON refuses lone surrogates */
        cJSON_Delete(tree);
    } else {
        MUST(error.reason && error.offset <= size && error.line >= 1 && error.column >= 1);
    }
    arena_free(&arena);
    free((char *)(size_t)text.p);
    return 0;
}
