#include "payload/export_row.h"

#include <string.h>

#include "payload/attachment.h"
#include "payload/lines_json.h"
#include "payload/mime.h"

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
    case EXPORT_WORDS: words_json_write(w, column->name, value->bytes); break;
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

/* Why the archive has no copy, by the state of its row. */
static const char *cause_of(struct slice state) {
    static const struct {
        const char *state, *cause;
    } causes[] = {
        {"queued", "it is not copied yet"},
        {"gone", "the platform did not have it any more when it was to be copied"},
        {"failed", "it was larger than media_archive_max_mb, or was not copied in 7 days"},
    };
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (slice_equal(state, slice_of(causes[i].state)))
            return causes[i].cause;
    return "it was not to be copied: media_archive was not set";
}

/* Reads what names the file from a row of `copies`: USER/MONTH/SHA256. */
static void read_copy(struct arena *arena, const struct export_rows *copies, size_t row,
                      struct export_file *file) {
    const struct export_value *type = export_value_of(copies, row, "type");
    struct slice rest = export_value_of(copies, row, "file")->bytes;
    struct store_media_copy *copy = &file->copy;
    const char *mime = type->is_null ? NULL : mime_read(arena, type->bytes.p);
    if (rest.n < MEDIA_MONTH_SIZE) {
        file->cause = cause_of(export_value_of(copies, row, "state")->bytes);
        return;
    }
    copy->user_id = arena_copy(arena, slice_cut(&rest, '/'));
    copy->month = arena_copy(arena, (struct slice){rest.p, MEDIA_MONTH_SIZE - 1});
    copy->sha256 = arena_copy(arena, slice_skip(rest, MEDIA_MONTH_SIZE));
    copy->size = export_value_of(copies, row, "size")->integer;
    file->name = arena_printf(arena, "%s%s", copy->sha256, mime ? mime_extension(mime) : "");
}

/* What the archive has of the file of the message. */
static struct export_file find_file(struct arena *arena, const struct export_rows *rows, size_t row,
                                    const char *media_id) {
    const struct slice id = export_value_of(rows, row, "id")->bytes;
    struct export_file file = {.copy = {.message_id = arena_copy(arena, id), .media_id = media_id},
                               .cause = cause_of(SLICE(""))};
    for (size_t i = 0; rows->list->parts[i].name; i++) {
        const struct export_rows *part = &rows->parts[i];
        for (size_t n = 0; strcmp(part->list->name, "copies") == 0 && n < part->count; n++)
            if (slice_equal(part->values[n * part->columns].bytes, id))
                read_copy(arena, part, n, &file);
    }
    return file;
}

/* Writes the file, and its name; or why it is missing. */
static void write_file(struct json_writer *w, struct export_file file,
                       const struct export_files *files) {
    if (file.name)
        file.cause = NULL;
    files->write(files->context, &file);
    json_write_text(w, "file", file.cause ? NULL : file.name);
    if (file.cause)
        json_write_text(w, "missing", file.cause);
}

/* Writes the member `media`: the file of the message, which the platform has, and the path by which
 * it can be downloaded as long as the platform or the archive keeps it. */
static void write_media(struct json_writer *w, struct arena *arena, const struct export_rows *rows,
                        size_t row, const struct export_files *files) {
    const char *id = attachment_id(arena, export_value_of(rows, row, "body")->bytes);
    if (!id) {
        json_write_null(w, "media");
        return;
    }
    json_write_object(w, "media");
    json_write_text(w, "id", id);
    json_write_text(w, "path", arena_printf(arena, "/v2/media/%s/download", id));
    if (files)
        write_file(w, find_file(arena, rows, row, id), files);
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
                      size_t row, const struct export_files *files) {
    write_row(w, rows, row);
    if (rows->list == &export_messages)
        write_media(w, arena, rows, row, files);
}
