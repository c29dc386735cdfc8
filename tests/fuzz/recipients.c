/* A table of recipients: it is read the same in parts of any length, written anew it has the same
 * cells, and what they fill in stays JSON. */
#include "fuzz.h"
#include "payload/columns.h"
#include "payload/csv.h"

static const struct slice body = SLICE("{\"a\":\"{{to}} {{ b }}\",\"c\":[\"{{to}}\"]}");

struct table {
    struct csv_reader csv;
    struct arena *arena;
    struct buffer written; /* the lines with each cell in quotation marks */
    struct buffer lines;   /* their numbers */
};

/* The first cells are the columns `to` and `b`. */
static void fill(struct table *table, const struct slice *cells, size_t count) {
    const struct slice names[] = {SLICE("to"), SLICE("b")};
    const struct columns columns = {names, 2};
    struct buffer out = buffer_in(table->arena);
    struct json json;
    struct json_error wrong;
    const struct slice empty = columns_fill(&columns, cells, count, body, &out);
    if (empty.p) {
        MUST(slice_equal(empty, names[0]) || slice_equal(empty, names[1]));
        return;
    }
    MUST(count >= 2);
    for (size_t i = 0; i < 2; i++)
        if (!utf8_valid(cells[i]))
            return;
    MUST(!json_read(table->arena, buffer_slice(&out), &json, &wrong));
}

static bool take(void *context, const struct slice *cells, size_t count) {
    struct table *table = context;
    MUST(count >= 1 && count <= CSV_CELLS_MOST);
    for (size_t i = 0; i < count; i++) {
        buffer_add_char(&table->written, i ? ',' : '\n');
        buffer_add_char(&table->written, '"');
        for (size_t k = 0; k < cells[i].n; k++) {
            if (cells[i].p[k] == '"')
                buffer_add_char(&table->written, '"');
            buffer_add_char(&table->written, cells[i].p[k]);
        }
        buffer_add_char(&table->written, '"');
    }
    buffer_add(&table->lines, &table->csv.line, sizeof table->csv.line);
    fill(table, cells, count);
    return true;
}

/* Reads the text in parts of this length. */
static bool read_table(struct table *table, struct arena *arena, struct slice text, size_t part) {
    bool ok = true;
    *table = (struct table){.csv = {.take = take, .context = table},
                            .arena = arena,
                            .written = buffer_in(arena),
                            .lines = buffer_in(arena)};
    csv_reader_start(&table->csv);
    while (ok && text.n) {
        const struct slice next = {text.p, part < text.n ? part : text.n};
        ok = csv_reader_add(&table->csv, next);
        text = slice_skip(text, next.n);
    }
    ok = ok && csv_reader_end(&table->csv);
    MUST(ok == !table->csv.error);
    csv_reader_free(&table->csv);
    return ok;
}

static void must_be_same(const struct buffer *a, const struct buffer *b) {
    MUST(slice_equal(buffer_slice(a), buffer_slice(b)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct table whole, parts, again;
    struct arena arena;
    struct slice text = fuzz_copy(data, size);
    arena_init(&arena, 512 * 1024 * 1024, NULL);
    const bool ok = read_table(&whole, &arena, text, size ? size : 1);
    MUST(ok == read_table(&parts, &arena, text, size ? data[0] % 7 + 1 : 1));
    must_be_same(&whole.written, &parts.written);
    must_be_same(&whole.lines, &parts.lines);
    MUST(ok || whole.csv.line == parts.csv.line);
    if (whole.written.n) {
        MUST(read_table(&again, &arena, buffer_slice(&whole.written), whole.written.n));
        must_be_same(&whole.written, &again.written);
    }
    arena_free(&arena);
    free((char *)(size_t)text.p);
    return 0;
}
