#include "store/move/move_row.h"

#include <endian.h>
#include <stdio.h>

#include "base/utf8.h"

enum { FIRST_LIMIT = 16, MOST_LIMIT = 2048, BYTES_OF_PAGE = 2 * 1024 * 1024 };

/* --- statements --- */

/* Adds the columns of the table or of its key. */
static void add_columns(struct buffer *sql, const struct move_table *table, bool is_key) {
    size_t count = is_key ? table->key_count : table->column_count;
    for (size_t i = 0; i < count; i++)
        buffer_printf(sql, "%s\"%s\"", i ? ", " : "",
                      table->columns[is_key ? table->key[i] : i].name);
}

static void add_markers(struct buffer *sql, size_t count) {
    for (size_t i = 1; i <= count; i++)
        buffer_printf(sql, "%s?%zu", i > 1 ? ", " : "", i);
}

static void add_rows_after(struct buffer *sql, const struct move_table *table,
                           const char *compare) {
    buffer_add_text(sql, " WHERE (");
    add_columns(sql, table, true);
    buffer_printf(sql, ") %s (", compare);
    add_markers(sql, table->key_count);
    buffer_add_text(sql, ")");
}

static struct buffer start_select(struct arena *arena, const struct move_table *table) {
    struct buffer sql = buffer_in(arena);
    buffer_add_text(&sql, "SELECT ");
    add_columns(&sql, table, false);
    buffer_printf(&sql, " FROM \"%s\"", table->name);
    return sql;
}

static struct statement select_page(struct arena *arena, const struct move_table *table,
                                    bool is_first) {
    struct buffer sql = start_select(arena, table);
    if (!is_first)
        add_rows_after(&sql, table, ">");
    buffer_add_text(&sql, " ORDER BY ");
    add_columns(&sql, table, true);
    buffer_printf(&sql, " LIMIT ?%zu", is_first ? 1 : table->key_count + 1);
    return (struct statement){sql.p, NULL, NULL, NULL, false};
}

static struct statement select_row(struct arena *arena, const struct move_table *table) {
    struct buffer sql = start_select(arena, table);
    add_rows_after(&sql, table, "=");
    return (struct statement){sql.p, NULL, NULL, NULL, false};
}

static struct statement delete_row(struct arena *arena, const struct move_table *table) {
    struct buffer sql = buffer_in(arena);
    buffer_printf(&sql, "DELETE FROM \"%s\"", table->name);
    add_rows_after(&sql, table, "=");
    return (struct statement){sql.p, NULL, NULL, NULL, false};
}

static struct statement insert_row(struct arena *arena, const struct move_table *table) {
    struct buffer sql = buffer_in(arena);
    buffer_printf(&sql, "INSERT INTO \"%s\" (", table->name);
    add_columns(&sql, table, false);
    buffer_add_text(&sql, ") VALUES (");
    add_markers(&sql, table->column_count);
    buffer_add_text(&sql, ")");
    return (struct statement){sql.p, NULL, NULL, NULL, false};
}

void move_side_make(struct move_side *side, struct store *store, const struct move_table *table,
                    struct arena *arena) {
    *side = (struct move_side){
        .store = store,
        .table = table,
        .first = select_page(arena, table, true),
        .next = select_page(arena, table, false),
        .find = select_row(arena, table),
        .drop = delete_row(arena, table),
        .insert = insert_row(arena, table),
        .count = {arena_printf(arena, "SELECT count(*) FROM \"%s\"", table->name), NULL, NULL, NULL,
                  false},
    };
}

/* --- values --- */

void move_read_values(const struct move_table *table, const struct statement *statement,
                      struct parameter *values) {
    const struct driver *driver = statement->store->driver;
    for (size_t i = 0; i < table->column_count; i++) {
        const int column = (int)i;
        const bool is_null = driver->is_null(statement, column);
        if (table->columns[i].kind != COLUMN_INTEGER)
            values[i] = table->columns[i].kind == COLUMN_TEXT
                            ? (struct parameter){.kind = PARAMETER_TEXT}
                            : (struct parameter){.kind = PARAMETER_BLOB};
        else
            values[i] = is_null ? NO_INTEGER : INTEGER(driver->integer(statement, column));
        if (table->columns[i].kind != COLUMN_INTEGER && !is_null)
            values[i].bytes = driver->column(statement, column);
    }
}

void move_key_of(const struct move_table *table, const struct parameter *values,
                 struct parameter *key) {
    for (size_t i = 0; i < table->key_count; i++)
        key[i] = values[table->key[i]];
}

static void add_number(struct buffer *out, uint64_t number) {
    number = htobe64(number);
    buffer_add(out, &number, sizeof number);
}

/* A NUL within a value is followed by FF, the two NULs at its end are not. */
static void add_ordered_bytes(struct buffer *out, struct slice bytes) {
    for (size_t i = 0; i < bytes.n; i++) {
        buffer_add_char(out, bytes.p[i]);
        if (!bytes.p[i])
            buffer_add_char(out, '\xff');
    }
    buffer_add(out, "\0", 2);
}

void move_encode_key(const struct move_table *table, const struct parameter *key,
                     struct buffer *out) {
    for (size_t i = 0; i < table->key_count; i++)
        if (key[i].kind == PARAMETER_INTEGER)
            add_number(out, (uint64_t)key[i].integer ^ (uint64_t)1 << 63);
        else
            add_ordered_bytes(out, key[i].bytes);
}

static struct slice take_ordered_bytes(struct slice *text, struct arena *arena) {
    struct buffer out = buffer_in(arena);
    size_t i = 0;
    buffer_reserve(&out, text->n);
    for (; text->p[i] || text->p[i + 1]; i += text->p[i] ? 1 : 2)
        buffer_add_char(&out, text->p[i]);
    *text = slice_skip(*text, i + 2);
    return buffer_slice(&out);
}

void move_decode_key(const struct move_table *table, struct slice text, struct parameter *key,
                     struct arena *arena) {
    for (size_t i = 0; i < table->key_count; i++) {
        const struct move_column *column = &table->columns[table->key[i]];
        uint64_t number = 0;
        if (column->kind == COLUMN_INTEGER) {
            slice_take(&text, &number, sizeof number);
            key[i] = INTEGER((int64_t)(be64toh(number) ^ (uint64_t)1 << 63));
        } else {
            key[i] = BLOB(take_ordered_bytes(&text, arena));
            if (column->kind == COLUMN_TEXT)
                key[i].kind = PARAMETER_TEXT;
        }
    }
}

void move_hash(const struct move_table *table, const struct parameter *values,
               struct buffer *scratch, unsigned char hash[CRYPTO_HASH_SIZE]) {
    scratch->n = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct parameter *value = &values[i];
        if (value->kind == PARAMETER_INTEGER) {
            buffer_add_char(scratch, 'i');
            add_number(scratch, (uint64_t)value->integer);
        } else if (value->kind == PARAMETER_NO_INTEGER || !value->bytes.p) {
            buffer_add_char(scratch, 'n');
        } else {
            buffer_add_char(scratch, value->kind == PARAMETER_TEXT ? 't' : 'b');
            add_number(scratch, value->bytes.n);
            buffer_add_slice(scratch, value->bytes);
        }
    }
    crypto_sha256(buffer_slice(scratch), hash);
}

int move_bad_text(const struct move_table *table, const struct parameter *values) {
    for (size_t i = 0; i < table->column_count; i++)
        if (values[i].kind == PARAMETER_TEXT && values[i].bytes.p &&
            (memchr(values[i].bytes.p, '\0', values[i].bytes.n) || !utf8_valid(values[i].bytes)))
            return (int)i;
    return -1;
}

const char *move_show_key(const struct move_table *table, const struct parameter *key,
                          struct arena *arena) {
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < table->key_count; i++) {
        buffer_printf(&text, "%s%s=", i ? ", " : "", table->columns[table->key[i]].name);
        if (key[i].kind == PARAMETER_INTEGER)
            buffer_printf(&text, "%lld", (long long)key[i].integer);
        for (size_t j = 0; key[i].kind != PARAMETER_INTEGER && j < key[i].bytes.n; j++) {
            const unsigned char c = (unsigned char)key[i].bytes.p[j];
            buffer_printf(&text, c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
        }
    }
    return text.p;
}

/* --- reading --- */

void move_reader_open(struct move_reader *reader, struct move_side *side) {
    *reader = (struct move_reader){.side = side, .limit = FIRST_LIMIT};
    arena_init(&reader->latest, (size_t)1 << 30, NULL);
    arena_init(&reader->bound, (size_t)1 << 30, NULL);
}

static void copy_key(const struct move_table *table, const struct parameter *from,
                     struct parameter *to, struct arena *arena) {
    arena_reset(arena);
    for (size_t i = 0; i < table->key_count; i++) {
        to[i] = from[i];
        if (from[i].bytes.p)
            to[i].bytes.p = arena_copy(arena, from[i].bytes);
    }
}

/* Starts the page after the row that was read last. */
static void start_page(struct move_reader *reader) {
    struct move_side *side = reader->side;
    struct parameter parameters[MOVE_COLUMNS + 1];
    size_t count = reader->page ? side->table->key_count : 0;
    if (reader->page)
        copy_key(side->table, reader->key, parameters, &reader->bound);
    reader->page = reader->page ? &side->next : &side->first;
    parameters[count++] = INTEGER((int64_t)reader->limit);
    sql_start_with(side->store, reader->page, parameters, count);
    reader->rows = reader->bytes = 0;
}

/* Chooses the size of the next page, whose rows may all be in memory. */
static void choose_limit(struct move_reader *reader) {
    const size_t fitting = BYTES_OF_PAGE / (reader->bytes / reader->rows + 1) + 1;
    const size_t more = reader->limit * 4;
    reader->limit = fitting < more ? fitting : more;
    if (reader->limit > MOST_LIMIT)
        reader->limit = MOST_LIMIT;
}

static void take_row(struct move_reader *reader) {
    const struct move_table *table = reader->side->table;
    struct parameter key[MOVE_COLUMNS];
    move_read_values(table, reader->page, reader->values);
    for (size_t i = 0; i < table->column_count; i++)
        reader->bytes += reader->values[i].bytes.n;
    reader->rows++;
    move_key_of(table, reader->values, key);
    copy_key(table, key, reader->key, &reader->latest);
}

bool move_reader_next(struct move_reader *reader) {
    struct store *store = reader->side->store;
    if (!reader->page)
        start_page(reader);
    if (!sql_row(store, reader->page)) {
        if (sql_failed(store) || reader->rows < reader->limit)
            return false;
        choose_limit(reader);
        start_page(reader);
        if (!sql_row(store, reader->page))
            return false;
    }
    take_row(reader);
    return true;
}

void move_reader_close(struct move_reader *reader) {
    if (reader->page)
        sql_stop(reader->page);
    arena_free(&reader->latest);
    arena_free(&reader->bound);
}
