/* Decoded query strings are UTF-8 without NUL; path parameters are within the path. */
#include "fuzz.h"
#include "web/route.h"

static void match(const char *path) {
    static const char *const patterns[] = {
        "/", "/v2/templates/:name", "/v2/templates/:name/test-send", "/v2/media/:mediaId/download"};
    struct slice found[MAX_PATH_PARAMETERS];
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (route_matches(patterns[i], path, found) && found[0].p)
            MUST(found[0].p >= path && found[0].p + found[0].n <= path + strlen(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct query query;
    const char *error = NULL;
    char *text = fuzz_text(data, size);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    if (query_read(&arena, text, &query, &error) == 0) {
        for (size_t i = 0; i < query.count; i++) {
            struct query_value *v = &query.values[i];
            MUST(utf8_valid(v->name) && utf8_valid(v->value));
            MUST(strlen(v->name.p) == v->name.n && strlen(v->value.p) == v->value.n);
            MUST(query_get(&query, v->name.p).p);
        }
    } else {
        MUST(error);
    }
    match(text);
    arena_free(&arena);
    free(text);
    return 0;
}
