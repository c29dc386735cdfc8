#include "payload/export_row.h"

#include "payload/attachment.h"

#include <string.h>

/* --- values --- */

static struct slice host_of(struct slice url) {
    const char *scheme = memmem(url.p, url.n, "://", 3);
    struct slice rest =
        scheme ? (struct slice){scheme + 3, url.n - (size_t)(scheme + 3 - url.p)} : url;
    size_t n = 0;
    while (n < rest.n && !memchr("/?#", rest.p[n], 3))
        n++;
    return (struct slice){rest.p, n};
}

static void write_value(struct json_writer *w, const struct export_column *column,
                        const struct export_value *value) {
    if (value->is_null) {
        json_write_null(w, column->name);
        return;
    }
    switch (column->kind) {
    case EXPORT_JSON: json_write_raw(w, column->name, value->bytes); break;
    case EXPORT_TIME: json_write_time(w, column->name, value->integer); break;
    case EXPORT_INTEGER: json_write_integer(w, column->name, value->integer); break;
    case EXPORT_BOOL: json_write_bool(w, column->name, value->integer != 0); break;
    case EXPORT_HOST: json_write_string(w, column->name, host_of(value->bytes)); break;
    default: json_write_string(w, column->name, value->bytes);
    }
}

const struct export_value *export_value_of(const struct export_rows *rows, size_t row,
                                           const char *name) {
    for (size_t i = 0; i < rows->columns; i++)
        if (rows->list->columns[i].name && strcmp(rows->list->columns[i].name, name) == 0)
            return &rows->values[row * rows->columns + i];
    return NULL;
}

/* --- files of messages --- */

/* Writes the member `media`: the file of the message, which the platform has, and the path by which
 * it can be downloaded as long as the platform keeps it. */
static void write_media(struct json_writer *w, struct arena *arena, struct slice body) {
    const char *id = attachment_id(arena, body);
    if (!id) {
        json_write_null(w, "media");
        return;
    }
    json_write_object(w, "media");
    json_write_text(w, "id", id);
    json_write_text(w, "path", arena_printf(arena, "/v2/media/%s/download", id));
    json_write_end(w);
}

/* --- rows --- */

static void write_row(struct json_writer *w, const struct export_rows *rows, size_t row);

/* The rows of a part that belong to the row with this id. */
static void write_part(struct json_writer *w, const struct export_rows *part, struct slice id) {
    json_write_array(w, part->list->name);
    for (size_t i = 0; i < part->count; i++)
        if (slice_equal(part->values[i * part->columns].bytes, id)) {
            json_write_object(w, NULL);
            write_row(w, part, i);
            json_write_end(w);
        }
    json_write_end(w);
}

static void write_row(struct json_writer *w, const struct export_rows *rows, size_t row) {
    const struct export_list *list = rows->list;
    const struct export_value *values = &rows->values[row * rows->columns];
    for (size_t i = 0; i < rows->columns; i++)
        if (list->columns[i].name)
            write_value(w, &list->columns[i], &values[i]);
    for (size_t i = 0; list->parts && list->parts[i].name; i++)
        write_part(w, &rows->parts[i], values[list->has_time].bytes);
}

void export_row_write(struct json_writer *w, struct arena *arena, const struct export_rows *rows,
                      size_t row) {
    write_row(w, rows, row);
    if (rows->list == &export_messages)
        write_media(w, arena, export_value_of(rows, row, "body")->bytes);
}
