/* The JSON writer. */
#include <assert.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

void json_write_start(struct json_writer *writer, struct arena *arena) {
    writer->out = buffer_in(arena);
    writer->depth = 0;
    writer->comma = false;
}

void json_write_start_object(struct json_writer *writer, struct arena *arena) {
    json_write_start(writer, arena);
    json_write_object(writer, NULL);
}

/* Returns the length of the prefix that needs no escape: valid UTF-8 without quotes, backslashes
 * and control characters. */
static size_t plain_length(struct slice s) {
    size_t n = 0, length;
    while (n < s.n) {
        unsigned char c = (unsigned char)s.p[n];
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f ||
            !(length = c < 0x80 ? 1 : utf8_length(s.p + n, s.n - n)))
            break;
        n += length;
    }
    return n;
}

static void add_string(struct buffer *out, struct slice string) {
    buffer_add_char(out, '"');
    while (string.n) {
        size_t plain = plain_length(string);
        buffer_add(out, string.p, plain);
        string = slice_skip(string, plain);
        if (!string.n)
            break;
        unsigned char c = (unsigned char)*string.p;
        if (c == '"' || c == '\\')
            buffer_printf(out, "\\%c", c);
        else if (c == '\n')
            buffer_add_text(out, "\\n");
        else if (c < 0x80)
            buffer_printf(out, "\\u%04x", c);
        else
            buffer_add_text(out, "\xef\xbf\xbd"); /* U+FFFD for an invalid byte */
        string = slice_skip(string, 1);
    }
    buffer_add_char(out, '"');
}

/* Writes the comma and the name before a value. */
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
    char digits[20]; /* of the greatest uint64_t */
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    begin(writer, name);
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        buffer_add_char(&writer->out, '-');
    buffer_add(&writer->out, digits + at, sizeof digits - at);
}

void json_write_bool(struct json_writer *writer, const char *name, bool value) {
    begin(writer, name);
    buffer_add_text(&writer->out, value ? "true" : "false");
}

void json_write_null(struct json_writer *writer, const char *name) {
    json_write_raw(writer, name, SLICE("null"));
}

void json_write_integer_or_null(struct json_writer *writer, const char *name, int64_t number) {
    if (number)
        json_write_integer(writer, name, number);
    else
        json_write_null(writer, name);
}

void json_write_time(struct json_writer *writer, const char *name, int64_t ms) {
    char text[CLOCK_ISO8601_SIZE];
    clock_format(ms, text);
    json_write_text(writer, name, text);
}

void json_write_time_or_null(struct json_writer *writer, const char *name, int64_t ms) {
    if (ms == INT64_MIN || ms == INT64_MAX)
        json_write_null(writer, name);
    else
        json_write_time(writer, name, ms);
}

void json_write_raw(struct json_writer *writer, const char *name, struct slice json) {
    begin(writer, name);
    buffer_add_slice(&writer->out, json.n ? json : SLICE("null"));
}

void json_write_words(struct json_writer *writer, const char *name, const char *words) {
    struct slice rest = slice_of(words);
    if (!words) {
        json_write_null(writer, name);
        return;
    }
    json_write_array(writer, name);
    while (rest.n)
        json_write_string(writer, NULL, slice_cut(&rest, ' '));
    json_write_end(writer);
}

struct slice json_written(struct json_writer *writer) {
    while (writer->depth)
        json_write_end(writer);
    return buffer_slice(&writer->out);
}
