/* Links in the platform's answers: the result is JSON, and a second replacement changes nothing. */
#include "graph/splice.h"

#include "fuzz.h"

#define BASE "https://gw.example/v23.0"

static struct json parse(struct arena *arena, struct slice text) {
    struct json json;
    struct json_error error;
    MUST(json_read(arena, text, &json, &error) == 0);
    return json;
}

static void check_pages(struct arena *arena, struct json answer, const char *token) {
    const struct link_change change = {BASE, token};
    struct slice once = splice_paging(arena, answer, &change);
    struct slice twice = splice_paging(arena, parse(arena, once), &change);
    MUST(slice_equal(once, twice));
}

static void check_url(struct arena *arena, struct json answer) {
    struct json changed = parse(arena, splice_media_url(arena, answer, BASE "?a=1&b"));
    bool has_url = json_type(answer) == JSON_OBJECT && json_is(json_get(answer, "url"));
    MUST(json_count(changed) == json_count(answer));
    if (has_url && json_type(json_get(answer, "url")) == JSON_STRING)
        MUST(json_equals(json_get(changed, "url"), BASE "?a=1&b"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct json answer;
    struct json_error error;
    struct slice text = fuzz_copy(data, size);
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    if (json_read(&arena, text, &answer, &error) == 0) {
        check_pages(&arena, answer, NULL);
        check_pages(&arena, answer, "sb_1");
        check_url(&arena, answer);
    }
    arena_free(&arena);
    free((char *)(size_t)text.p);
    return 0;
}
