#include "payload/csv.h"

#include <string.h>

/* Spreadsheets evaluate a cell that begins so; in some locales also with the full-width forms
 * (OWASP, CSV injection). */
static bool is_formula(struct slice text) {
    static const char *const beginnings[] = {
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        "\n",
        "\xef\xbc\x9d",
        "\xef\xbc\x8b",
        "\xef\xbc\x8d",
        "\xef\xbc\xa0",
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (slice_starts(text, slice_of(beginnings[i])))
            return true;
    return false;
}

static bool needs_quotes(struct slice text) {
    for (size_t i = 0; i < text.n; i++)
        if (memchr(",;\t\"\r\n", text.p[i], 6)) /* spreadsheets may divide at ; and tabs too */
            return true;
    return false;
}

static void add_character(struct buffer *line, char c) {
    if (c == '"')
        buffer_add_char(line, '"');
    if (c)
        buffer_add_char(line, c);
    else
        buffer_add_text(line, "\xef\xbf\xbd");
}

void csv_add(struct buffer *line, struct slice text) {
    const bool is_quoted = needs_quotes(text);
    if (line->n && line->p[line->n - 1] != '\n')
        buffer_add_char(line, ',');
    if (is_quoted)
        buffer_add_char(line, '"');
    if (is_formula(text))
        buffer_add_char(line, '\'');
    for (size_t i = 0; i < text.n; i++)
        add_character(line, text.p[i]);
    if (is_quoted)
        buffer_add_char(line, '"');
}

void csv_end(struct buffer *line) {
    buffer_add_text(line, "\r\n");
}

/* --- reading --- */

enum state { BEGIN, PLAIN, QUOTED, QUOTE_IN_QUOTED };

static void begin_line(struct csv_reader *reader) {
    arena_reset(&reader->arena);
    reader->text = buffer_in(&reader->arena);
    reader->count = 0;
    reader->line = reader->next_line;
    reader->state = BEGIN;
}

void csv_reader_start(struct csv_reader *reader) {
    arena_init(&reader->arena, 1024 * 1024, NULL);
    reader->next_line = 1;
    begin_line(reader);
}

void csv_reader_free(struct csv_reader *reader) {
    arena_free(&reader->arena);
}

static bool fail_line(struct csv_reader *reader, const char *error) {
    reader->error = error;
    return false;
}

static bool end_cell(struct csv_reader *reader) {
    if (reader->count == CSV_CELLS_MOST)
        return fail_line(reader, "it has more than 100 cells");
    reader->ends[reader->count++] = reader->text.n;
    reader->state = BEGIN;
    return true;
}

static bool end_line(struct csv_reader *reader) {
    struct slice cells[CSV_CELLS_MOST];
    if (reader->state == BEGIN && !reader->count) {
        begin_line(reader); /* an empty line */
        return true;
    }
    if (!end_cell(reader))
        return false;
    for (size_t i = 0, from = 0; i < reader->count; from = reader->ends[i++])
        cells[i] =
            (struct slice){reader->text.p ? reader->text.p + from : "", reader->ends[i] - from};
    const bool goes_on = reader->take(reader->context, cells, reader->count);
    begin_line(reader);
    return goes_on;
}

static bool add_to_cell(struct csv_reader *reader, char c) {
    if (reader->text.n >= CSV_LINE_MOST)
        return fail_line(reader, "it is longer than 64 KB");
    buffer_add_char(&reader->text, c);
    return true;
}

static bool add_in_quotes(struct csv_reader *reader, char c) {
    if (c == '"') {
        reader->state = QUOTE_IN_QUOTED;
        return true;
    }
    return add_to_cell(reader, c);
}

static bool add_char(struct csv_reader *reader, char c) {
    const bool follows_return = reader->was_return;
    reader->was_return = false;
    if (c == '\n' && follows_return)
        return true;
    reader->next_line += c == '\n' || (c == '\r' && reader->state != QUOTED);
    if (reader->state == QUOTED)
        return add_in_quotes(reader, c);
    if (c == '\r' || c == '\n') {
        reader->was_return = c == '\r';
        return end_line(reader);
    }
    if (c == ',')
        return end_cell(reader);
    if (c == '"' && reader->state != PLAIN) {
        const bool is_doubled = reader->state == QUOTE_IN_QUOTED;
        reader->state = QUOTED;
        return !is_doubled || add_to_cell(reader, c);
    }
    if (reader->state == QUOTE_IN_QUOTED)
        return fail_line(reader, "a quotation mark ends before the end of its cell");
    reader->state = PLAIN;
    return add_to_cell(reader, c);
}

bool csv_reader_add(struct csv_reader *reader, struct slice bytes) {
    for (size_t i = 0; i < bytes.n; i++)
        if (!add_char(reader, bytes.p[i]))
            return false;
    return true;
}

bool csv_reader_end(struct csv_reader *reader) {
    if (reader->state == QUOTED)
        return fail_line(reader, "a quotation mark is not closed");
    return end_line(reader);
}
