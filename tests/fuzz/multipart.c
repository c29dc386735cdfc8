/* Multipart bodies are read to the end or refused with a message, in pieces of any size. The first
 * byte of the input selects the size of the pieces. */
#include "web/multipart.h"
#include "fuzz.h"

struct source {
    struct slice rest;
    size_t step;
};

static ssize_t give(void *context, void *bytes, size_t n) {
    struct source *source = context;
    size_t length = source->rest.n < n ? source->rest.n : n;
    length = length < source->step ? length : source->step;
    if (length)
        memcpy(bytes, source->rest.p, length);
    source->rest = slice_skip(source->rest, length);
    return (ssize_t)length;
}

static void read_all(struct multipart *form) {
    struct part part;
    struct slice bytes;
    int parts, more;
    while ((parts = multipart_next(form, &part)) > 0) {
        MUST(part.name);
        while ((more = multipart_read(form, &bytes)) > 0)
            MUST(bytes.n > 0);
        if (more < 0)
            break;
    }
    MUST(form->state != MULTIPART_FAILED || form->error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const types[] = {"multipart/form-data; boundary=b",
                                        "multipart/form-data; boundary=\"b b\"; charset=x"};
    if (size < 2)
        return 0;
    struct arena arena;
    struct multipart form;
    struct slice body = fuzz_copy(data + 2, size - 2);
    struct source source = {body, (size_t)data[0] + 1};
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    if (multipart_start(&form, &arena, types[data[1] % 2], give, &source) == 0)
        read_all(&form);
    arena_free(&arena);
    free((char *)(size_t)body.p);
    return 0;
}
