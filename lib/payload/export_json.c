#include "payload/export_json.h"

#include <string.h>

#include "payload/attachment.h"
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
    case EXPORT_WORDS: json_write_words(w, column->name, value->bytes.p); break;
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

/* --- the document of a person --- */

enum {
    MEMORY = 192 * 1024 * 1024, /* of a page */
    MEMORY_OF_TEXT = 64 * 1024 * 1024,
    FORMAT = 1, /* raised when a member changes its meaning */
};

/* A document that is being written. */
struct document {
    struct store *store;
    const struct store_export *export;
    const struct export_sink *sink;
    struct arena text, kept; /* of the writer; of what is needed to the end */
    struct arena pages[2];   /* of the page, and of the place that the page before has ended at */
    struct json_writer json;
    struct buffer recipients; /* ids of webhooks to which an event was delivered */
    bool is_over;             /* the sink takes no more */
    enum store_result result;
};

static bool goes_on(const struct document *d) {
    return !d->is_over && d->result == STORE_OK;
}

/* Gives the sink what was written. */
static void flush(struct document *d) {
    if (d->json.out.n && !d->sink->write(d->sink->context, buffer_slice(&d->json.out)))
        d->is_over = true;
    d->json.out.n = 0;
}

/* Notes the webhooks to which an event was delivered. */
static void note_recipients(struct document *d, const struct export_rows *events) {
    const struct export_rows *deliveries = &events->parts[0];
    for (size_t i = 0; i < deliveries->count; i++) {
        const struct slice id = export_value_of(deliveries, i, "webhookId")->bytes;
        if (slice_equal(export_value_of(deliveries, i, "state")->bytes, SLICE("done")) &&
            !slice_has_word(buffer_slice(&d->recipients), ' ', id)) {
            buffer_add_slice(&d->recipients, id);
            buffer_add_char(&d->recipients, ' ');
        }
    }
}

static void write_rows(struct document *d, struct arena *arena, const struct export_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        json_write_object(&d->json, NULL);
        export_row_write(&d->json, arena, rows, i, d->sink->files);
        json_write_end(&d->json);
    }
    if (rows->list == &export_events && rows->count)
        note_recipients(d, rows);
}

/* Writes all rows of the owner, a page at a time. */
static void write_list(struct document *d, const struct export_list *list, const char *owner_id,
                       const struct person *only) {
    struct list_key place = {INT64_MIN, ""};
    struct export_rows rows = {0};
    for (size_t page = 0; !rows.is_end && goes_on(d); page = !page) {
        arena_reset(&d->pages[page]);
        store_hold_view(d->store);
        d->result =
            store_export_page(d->store, &d->pages[page], list, owner_id, only, &place, &rows);
        store_release_view(d->store);
        if (d->result == STORE_OK)
            write_rows(d, &d->pages[page], &rows);
        flush(d);
    }
}

/* --- the document --- */

static const char *copy(struct document *d, struct slice text) {
    return arena_copy(&d->kept, text);
}

/* Reads the contact's row; false: it is not there any more, or on failure. */
static bool read_contact(struct document *d, struct export_rows *rows) {
    store_hold_view(d->store);
    d->result = store_export_contact(d->store, &d->kept, d->export, rows);
    store_release_view(d->store);
    if (d->result == STORE_OK && !rows->count)
        d->result = STORE_NOT_FOUND;
    return d->result == STORE_OK;
}

/* Writes what the contact's row has, and notes its threads. */
static void write_contact(struct document *d, struct buffer *threads) {
    struct export_rows rows;
    if (!read_contact(d, &rows))
        return;
    json_write_object(&d->json, "contact");
    export_row_write(&d->json, &d->kept, &rows, 0, NULL);
    json_write_end(&d->json);
    for (size_t i = 0; i < rows.parts[0].count; i++) {
        const char *id = copy(d, export_value_of(&rows.parts[0], i, "id")->bytes);
        buffer_add(threads, &id, sizeof id);
    }
    flush(d);
}

static void write_events(struct document *d) {
    json_write_array(&d->json, "events");
    write_list(d, &export_events, d->export->contact_id, NULL);
    for (size_t i = 0; i < d->export->former_count; i++)
        write_list(d, &export_events, d->export->former_ids[i], NULL);
    json_write_end(&d->json);
}

/* The webhooks to which an event of the person was delivered, and those that get every POST of the
 * platform for the account. */
static void write_recipients(struct document *d) {
    struct slice rest = buffer_slice(&d->recipients);
    json_write_array(&d->json, "recipients");
    while (rest.n)
        write_list(d, &export_recipient, copy(d, slice_cut(&rest, ' ')), NULL);
    write_list(d, &export_forwards, d->export->account_id, NULL);
    json_write_end(&d->json);
}

static void write_account(struct document *d) {
    json_write_object(&d->json, "account");
    json_write_text(&d->json, "id", d->export->account_id);
    json_write_text(&d->json, "wabaId", d->export->waba_id);
    json_write_text(&d->json, "name", d->export->account_name);
    json_write_end(&d->json);
}

static void write_document(struct document *d, int64_t now) {
    struct buffer threads = buffer_in(&d->kept);
    struct export_rows rows;
    json_write_object(&d->json, NULL);
    json_write_integer(&d->json, "format", FORMAT);
    json_write_time(&d->json, "exportedAt", now);
    write_account(d);
    write_contact(d, &threads);
    if (!goes_on(d))
        return;
    json_write_array(&d->json, "messages");
    for (size_t i = 0; i < threads.n / sizeof(char *); i++)
        write_list(d, &export_messages, ((const char **)(void *)threads.p)[i], NULL);
    json_write_end(&d->json);
    write_events(d);
    json_write_array(&d->json, "updates");
    write_list(d, &export_updates, d->export->account_id, d->export->person);
    json_write_end(&d->json);
    write_recipients(d);
    /* one that was erased or merged meanwhile is not complete */
    if (!goes_on(d) || !read_contact(d, &rows))
        return;
    json_write_bool(&d->json, "isComplete", true);
    json_write_end(&d->json);
    flush(d);
}

enum store_result export_write_contact(struct store *store, const struct store_export *export,
                                       int64_t now, const struct export_sink *sink) {
    struct document d = {.store = store, .export = export, .sink = sink};
    arena_init(&d.text, MEMORY_OF_TEXT, NULL);
    arena_init(&d.kept, MEMORY, NULL);
    arena_init(&d.pages[0], MEMORY, NULL);
    arena_init(&d.pages[1], MEMORY, NULL);
    d.recipients = buffer_in(&d.kept);
    json_write_start(&d.json, &d.text);
    write_document(&d, now);
    arena_free(&d.pages[1]);
    arena_free(&d.pages[0]);
    arena_free(&d.kept);
    arena_free(&d.text);
    return d.result;
}
