#include "payload/export_json.h"

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
