/* A copy of a multipart form has the parts of the form, is never longer than was said, and is read
 * again as it is written. The first byte of the input selects the size of the pieces. */
#include "web/form_copy.h"

#include "base/buffer.h"
#include "fuzz.h"
#include "web/plain_name.h"

struct source {
    struct slice rest;
    size_t step;
};

static ssize_t give(void *context, void *bytes, size_t n) {
    struct source *source = context;
    return (ssize_t)slice_take(&source->rest, bytes, n < source->step ? n : source->step);
}

/* Counts the parts. */
static int count(void *checker, const struct part *part) {
    MUST(plain_name_check(slice_of(part->name)));
    ++*(size_t *)checker;
    return 0;
}

static struct slice copy_all(struct arena *arena, struct form_copy *copy, size_t step) {
    struct buffer out = buffer_in(arena);
    char bytes[4096];
    ssize_t got;
    buffer_add(&out, "", 0);
    while ((got = form_copy_read(copy, bytes, step)) > 0)
        buffer_add(&out, bytes, (size_t)got);
    MUST(got == 0 || copy->error);
    return got == 0 ? buffer_slice(&out) : (struct slice){NULL, 0};
}

/* The next part of a form as one text; p == NULL at its end. */
static struct slice next_part(struct arena *arena, struct multipart *form) {
    struct buffer out = buffer_in(arena);
    struct part part;
    struct slice bytes;
    int more = multipart_next(form, &part);
    if (more <= 0)
        return (struct slice){NULL, 0};
    buffer_printf(&out, "%s %d\n", part.name, part.filename != NULL);
    while (multipart_read(form, &bytes) > 0)
        buffer_add_slice(&out, bytes);
    return buffer_slice(&out);
}

static void compare(struct arena *arena, const char *type, struct slice form,
                    const struct form_copy *copy, struct slice text) {
    struct multipart ours, theirs;
    MUST(multipart_start(&theirs, arena, type, multipart_from_slice, &form) == 0);
    MUST(multipart_start(&ours, arena, copy->content_type, multipart_from_slice, &text) == 0);
    for (;;) {
        struct slice wanted = next_part(arena, &theirs), found = next_part(arena, &ours);
        MUST(!wanted.p == !found.p && slice_equal(wanted, found));
        if (!wanted.p)
            break;
    }
    MUST(ours.state == MULTIPART_ENDED && theirs.state == MULTIPART_ENDED);
}

static void check(struct arena *arena, const char *type, struct slice form, size_t step) {
    struct source source = {form, step};
    size_t parts = 0;
    const struct form_source from = {.content_type = type,
                                     .size = (int64_t)form.n,
                                     .read = give,
                                     .context = &source,
                                     .check = count,
                                     .checker = &parts};
    struct form_copy copy;
    MUST(form_copy_start(&copy, arena, &from) == 0);
    struct slice text = copy_all(arena, &copy, step);
    if (!text.p)
        return;
    MUST((int64_t)text.n == copy.size && parts > 0);
    compare(arena, type, form, &copy, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const types[] = {
        "multipart/form-data; boundary=b",
        "multipart/form-data; boundary=\"b b\"; charset=x",
        "multipart/form-data; boundary=123456789012345678901234567890",
    };
    if (size < 2)
        return 0;
    struct arena arena;
    struct slice form = fuzz_copy(data + 2, size - 2);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    check(&arena, types[data[1] % 3], form, (size_t)data[0] + 1);
    arena_free(&arena);
    free((char *)(size_t)form.p);
    return 0;
}
