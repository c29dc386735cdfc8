#include "engine/row.h"

#include <string.h>

static void read_member(struct statement *s, int column, struct arena *arena, enum row_kind kind,
                        void *to) {
    switch (kind) {
    case ROW_TEXT: *(const char **)to = column_text(s, column, arena); break;
    case ROW_ID: column_id(s, column, to); break;
    case ROW_BLOB: *(struct slice *)to = column_blob(s, column, arena); break;
    case ROW_INTEGER: *(int64_t *)to = column_integer(s, column); break;
    case ROW_INT: *(int *)to = (int)column_integer(s, column); break;
    case ROW_BOOL: *(bool *)to = column_integer(s, column) != 0; break;
    case ROW_TIME: *(int64_t *)to = column_time(s, column); break;
    }
}

void row_read(struct statement *s, int first, struct arena *arena, const struct row_layout *layout,
              void *row) {
    for (int i = 0; i < layout->count; i++)
        read_member(s, first + i, arena, layout->members[i].kind,
                    (char *)row + layout->members[i].offset);
}

bool row_find(struct store *store, struct statement *s, struct arena *arena,
              const struct row_layout *layout, void *row) {
    if (!sql_row(store, s))
        return false;
    memset(row, 0, layout->size);
    row_read(s, 0, arena, layout, row);
    sql_stop(s);
    return true;
}

bool row_fill(struct store *store, struct statement *s, struct arena *arena,
              const struct row_layout *layout, void *row) {
    if (!sql_row(store, s))
        return false;
    row_read(s, 0, arena, layout, row);
    sql_stop(s);
    return true;
}

void row_add(struct store *store, struct statement *s, struct arena *arena,
             const struct row_layout *layout, struct buffer *rows) {
    for (; sql_row(store, s); rows->n += layout->size) {
        void *const row = buffer_reserve(rows, layout->size);
        memset(row, 0, layout->size);
        row_read(s, 0, arena, layout, row);
    }
}

void *row_list(struct store *store, struct statement *s, struct arena *arena,
               const struct row_layout *layout, size_t *count) {
    struct buffer rows = buffer_in(arena);
    row_add(store, s, arena, layout, &rows);
    return buffer_array(&rows, layout->size, count);
}

void row_copy(struct arena *arena, const struct row_layout *layout, void *row) {
    for (int i = 0; i < layout->count; i++) {
        void *const member = (char *)row + layout->members[i].offset;
        const char **const text = member;
        struct slice *const bytes = member;
        if (layout->members[i].kind == ROW_TEXT && *text)
            *text = arena_copy(arena, slice_of(*text));
        else if (layout->members[i].kind == ROW_BLOB && bytes->p)
            bytes->p = arena_copy(arena, *bytes);
    }
}

bool row_exists(struct store *store, struct statement *s) {
    const bool exists = sql_row(store, s);
    if (exists)
        sql_stop(s);
    return exists;
}

int64_t row_integer(struct store *store, struct statement *s, int64_t none) {
    if (!sql_row(store, s))
        return none;
    const int64_t integer = column_is_null(s, 0) ? none : column_integer(s, 0);
    sql_stop(s);
    return integer;
}

const char *row_text(struct store *store, struct statement *s, struct arena *arena) {
    if (!sql_row(store, s))
        return NULL;
    const char *const text = column_text(s, 0, arena);
    sql_stop(s);
    return text;
}

enum store_result row_allowed(struct store *store, bool found, bool is_allowed) {
    const enum store_result result = sql_found(store, found);
    return result == STORE_OK && !is_allowed ? STORE_CONFLICT : result;
}
