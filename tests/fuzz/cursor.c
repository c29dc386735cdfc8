/* Cursors of lists: a cursor that is read has the declared parts, and is written the same again. */
#include "api/paging.h"
#include "base/id.h"
#include "fuzz.h"

static struct request request_of(struct arena *arena, struct query_value *value) {
    return (struct request){.arena = arena, .query = {.values = value, .count = 1}};
}

static void read_parts(struct arena *arena, struct query_value *value) {
    for (size_t count = 1; count <= CURSOR_PARTS; count++) {
        struct request rq = request_of(arena, value);
        const char *parts[CURSOR_PARTS], *again[CURSOR_PARTS];
        const int result = cursor_read(&rq, "after", "list", parts, count);
        MUST((result == 1) == (rq.failure.code == 0) && result != 0);
        if (result != 1)
            continue;
        for (size_t i = 0; i < count; i++)
            MUST(utf8_valid(slice_of(parts[i])) && !strchr(parts[i], '\n'));
        const char *text = cursor_write(arena, parts, count);
        struct query_value written = {SLICE("after"), slice_of(text)};
        struct request second = request_of(arena, &written);
        MUST(cursor_read(&second, "after", "list", again, count) == 1);
        for (size_t i = 0; i < count; i++)
            MUST(strcmp(parts[i], again[i]) == 0);
    }
}

static void read_key(struct arena *arena, struct query_value *value) {
    struct request rq = request_of(arena, value);
    int64_t number;
    const char *id;
    if (cursor_read_key(&rq, "after", "list", &number, &id) == 1)
        MUST(id && *id);
    else
        MUST(rq.failure.code == INVALID);
}

static void read_id(struct arena *arena, struct query_value *value) {
    struct request rq = request_of(arena, value);
    const char *after;
    if (paging_after(&rq, "msg_", &after) == 0)
        MUST(strncmp(after, "msg_", 4) == 0 && strlen(after) < ID_SIZE);
    else
        MUST(rq.failure.code == INVALID && !after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    char *text = fuzz_text(data, size);
    const char *const parts[] = {text, "1", "msg_1"};
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    /* the input as a cursor, and as the content of one */
    const struct slice cursors[] = {slice_of(text), slice_of(cursor_write(&arena, parts, 1))};
    for (size_t i = 0; i < 2; i++) {
        struct query_value value = {SLICE("after"), cursors[i]};
        read_parts(&arena, &value);
        read_key(&arena, &value);
        read_id(&arena, &value);
    }
    arena_free(&arena);
    free(text);
    return 0;
}
