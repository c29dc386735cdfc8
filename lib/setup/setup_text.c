#include "setup/setup_text.h"

#include "base/buffer.h"

static const struct {
    const char *code, *english;
} texts[SETUP_TEXTS] = {
#define TEXT(name, code, english) [name] = {code, english},
    SETUP_TEXT_ROWS(TEXT)
#undef TEXT
};

const char *setup_code(enum setup_text text) {
    return texts[text].code;
}

const char *setup_english(enum setup_text text) {
    return texts[text].english;
}

static const char *value_of(const struct setup_values *values, struct slice name) {
    for (const struct setup_value *value = values->list; value->name; value++)
        if (slice_equal(name, slice_of(value->name)))
            return value->text;
    return "";
}

const char *setup_say(struct arena *arena, enum setup_text text,
                      const struct setup_values *values) {
    const char *rest = texts[text].english, *open;
    struct buffer said = buffer_in(arena);
    if (!rest)
        return NULL;
    while ((open = strchr(rest, '{'))) {
        const char *end = strchr(open, '}');
        const struct slice name = {open + 1, (size_t)(end - open - 1)};
        buffer_add(&said, rest, (size_t)(open - rest));
        buffer_add_text(&said, value_of(values, name));
        rest = end + 1;
    }
    buffer_add_text(&said, rest);
    return said.p;
}
