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
