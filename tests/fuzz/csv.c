/* Cells of CSV: no cell begins a formula, and each is read as it was written. */
#include "payload/csv.h"
#include "api/period.h"
#include "fuzz.h"

/* Reads the first cell of the line (RFC 4180), which a comma follows. */
static struct buffer read_cell(struct arena *arena, struct slice line) {
    struct buffer cell = buffer_in(arena);
    const bool is_quoted = line.n && *line.p == '"';
    size_t i = is_quoted;
    for (; i < line.n && (is_quoted || line.p[i] != ','); i++) {
        if (is_quoted && line.p[i] == '"' && line.p[++i] != '"')
            break;
        buffer_add_char(&cell, line.p[i]);
    }
    MUST(i < line.n && line.p[i] == ',');
    return cell;
}

/* The full-width forms are U+FF0B, U+FF0D, U+FF1D and U+FF20. */
static bool is_formula(struct slice text) {
    return text.n && (memchr("=+-@\t\r\n", text.p[0], 7) ||
                      (text.n >= 3 && memcmp(text.p, "\xef\xbc", 2) == 0 &&
                       memchr("\x8b\x8d\x9d\xa0", text.p[2], 4)));
}

static void write_cell(struct arena *arena, struct slice text) {
    struct buffer line = buffer_in(arena);
    csv_add(&line, text);
    const size_t n = line.n;
    csv_add(&line, SLICE("end"));
    MUST(line.n == n + (n ? 4 : 3));
    if (!n)
        return;
    const struct buffer cell = read_cell(arena, buffer_slice(&line));
    MUST(!is_formula(buffer_slice(&cell)));
    const size_t mark = is_formula(text);
    if (!memchr(text.p, '\0', text.n))
        MUST(cell.n == text.n + mark && memcmp(cell.p + mark, text.p, text.n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct slice text = fuzz_copy(data, size);
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    write_cell(&arena, text);
    const bool is_day = !period_day_rule.check(text), is_time = !period_time_rule.check(text);
    MUST(!is_day || is_time);
    MUST(is_time == (period_time(text, 1) == period_time(text, 2)));
    arena_free(&arena);
    free((char *)(size_t)text.p);
    return 0;
}
