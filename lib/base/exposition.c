#include "base/exposition.h"

#include <inttypes.h>

/* Writes a text with `\`, a line feed and, where it is within quotes, `"` escaped. */
static void write_escaped(struct buffer *out, struct slice text, bool is_quoted) {
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\n')
            buffer_add_text(out, "\\n");
        else if (text.p[i] == '\\' || (is_quoted && text.p[i] == '"'))
            buffer_printf(out, "\\%c", text.p[i]);
        else
            buffer_add_char(out, text.p[i]);
}

void exposition_start(struct buffer *out, const char *name, const char *type, const char *help) {
    buffer_printf(out, "# HELP %s ", name);
    write_escaped(out, slice_of(help), false);
    buffer_printf(out, "\n# TYPE %s %s\n", name, type);
}

void exposition_sample(struct buffer *out, const char *name, const char *suffix,
                       const struct exposition_label *labels, size_t count) {
    buffer_printf(out, "%s%s", name, suffix);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%c%s=\"", i ? ',' : '{', labels[i].name);
        write_escaped(out, labels[i].value, true);
        buffer_add_char(out, '"');
    }
    buffer_add_text(out, count ? "} " : " ");
}

void exposition_integer(struct buffer *out, uint64_t value) {
    buffer_printf(out, "%" PRIu64 "\n", value);
}

void exposition_seconds(struct buffer *out, uint64_t microseconds) {
    buffer_printf(out, "%" PRIu64 ".%06" PRIu64 "\n", microseconds / 1000000,
                  microseconds % 1000000);
}
