/* The writer: names first, commas and closing brackets by themselves. */
#include <assert.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

void json_write_start(struct json_writer *writer, struct arena *arena) {
    writer->out = buffer_in(arena);
    writer->depth = 0;
    writer->comma = false;
}

static void add_string(struct buffer *out, struct slice string) {
    buffer_add_char(out, '"');
    for (size_t i = 0, length; i < string.n; i += length) {
        unsigned char c = (unsigned char)string.p[i];
        length = utf8_length(string.p + i, string.n - i);
        if (!length) {
            buffer_add_text(out, "\xef\xbf\xbd"); /* U+FFFD */
            length = 1;
        } else if (c == '"' || c == '\\') {
            buffer_add_char(out, '\\');
            buffer_add_char(out, (char)c);
        } else if (c == '\n') {
            buffer_add_text(out, "\\n");
        } else if (c < 0x20 || c == 0x7f) {
            buffer_printf(out, "\\u%04x", c);
        } else {
            buffer_add(out, string.p + i, length);
        }
    }
    buffer_add_char(out, '"');
}

/* The comma and the name before a value. */
static void begin(struct json_writer *writer, const char *name) {
    if (writer->comma)
        buffer_add_char(&writer->out, ',');
    if (name) {
        add_string(&writer->out, slice_of(name));
        buffer_add_char(&writer->out, ':');
    }
    writer->comma = true;
}

static void open(struct json_writer *writer, const char *name, char opener, char closer) {
    begin(writer, name);
    assert(writer->depth < JSON_MAX_DEPTH);
    buffer_add_char(&writer->out, opener);
    writer->closers[writer->depth++] = closer;
    writer->comma = false;
}

void json_write_object(struct json_writer *writer, const char *name) {
    open(writer, name, '{', '}');
}

void json_write_array(struct json_writer *writer, const char *name) {
    open(writer, name, '[', ']');
}

void json_write_end(struct json_writer *writer) {
    assert(writer->depth > 0);
    buffer_add_char(&writer->out, writer->closers[--writer->depth]);
    writer->comma = true;
}

void json_write_text(struct json_writer *writer, const char *name, const char *text) {
    json_write_string(writer, name, slice_of(text));
}

void json_write_string(struct json_writer *writer, const char *name, struct slice string) {
    begin(writer, name);
    if (string.p)
        add_string(&writer->out, string);
    else
        buffer_add_text(&writer->out, "null");
}

void json_write_integer(struct json_writer *writer, const char *name, int64_t number) {
    begin(writer, name);
    buffer_printf(&writer->out, "%" PRId64, number);
}

void json_write_bool(struct json_writer *writer, const char *name, bool value) {
    begin(writer, name);
    buffer_add_text(&writer->out, value ? "true" : "false");
}

void json_write_null(struct json_writer *writer, const char *name) {
    json_write_raw(writer, name, SLICE("null"));
}

void json_write_time(struct json_writer *writer, const char *name, int64_t ms) {
    char text[CLOCK_ISO8601_SIZE];
    clock_format(ms, text);
    json_write_text(writer, name, text);
}

void json_write_raw(struct json_writer *writer, const char *name, struct slice json) {
    begin(writer, name);
    buffer_add_slice(&writer->out, json.n ? json : SLICE("null"));
}

struct slice json_written(const struct json_writer *writer) {
    assert(writer->depth == 0);
    return buffer_slice(&writer->out);
}
