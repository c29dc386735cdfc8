#include "payload/export_user.h"

#include <stdio.h>
#include <string.h>

enum {
    MEMORY = 192 * 1024 * 1024, /* of a page */
    FORMAT = 1,                 /* raised when a member changes its meaning */
};

const struct export_part export_user_parts[] = {
    {&export_accounts, EXPORT_OF_USER},       {&export_lines, EXPORT_OF_ACCOUNT},
    {&export_members, EXPORT_OF_USER},        {&export_webhooks, EXPORT_OF_USER},
    {&export_templates, EXPORT_OF_ACCOUNT},   {&export_forms, EXPORT_OF_ACCOUNT},
    {&export_contacts, EXPORT_OF_ACCOUNT},    {&export_messages, EXPORT_OF_THREAD},
    {&export_events_of_user, EXPORT_OF_USER}, {&export_updates, EXPORT_OF_ACCOUNT},
    {&export_trail, EXPORT_OF_USER},          {&export_opt_outs, EXPORT_OF_ACCOUNT},
};
const size_t export_user_count = sizeof export_user_parts / sizeof *export_user_parts;

struct export_place export_user_first(void) {
    return (struct export_place){.row = {INT64_MIN, ""}};
}

void export_user_start(struct export_user *export, struct store *store, const char *user_id,
                       const struct export_user_sink *sink) {
    *export = (struct export_user){
        .store = store, .user_id = user_id, .sink = sink, .place = export_user_first()};
    arena_init(&export->kept, MEMORY, NULL);
    arena_init(&export->pages[0], MEMORY, NULL);
    arena_init(&export->pages[1], MEMORY, NULL);
    arena_init(&export->text, MEMORY, NULL);
}

void export_user_end(struct export_user *export) {
    arena_free(&export->text);
    arena_free(&export->pages[1]);
    arena_free(&export->pages[0]);
    arena_free(&export->kept);
}

static bool goes_on(const struct export_user *e) {
    return !e->is_over && e->result == STORE_OK;
}

/* --- rows --- */

static void write_rows(struct export_user *e, struct arena *arena, const struct export_rows *rows) {
    for (size_t i = 0; i < rows->count && goes_on(e); i++) {
        struct json_writer w;
        arena_reset(&e->text);
        json_write_start_object(&w, &e->text);
        export_row_write(&w, arena, rows, i, e->sink->files);
        json_write_end(&w);
        e->is_over = !e->sink->row(e->sink->context, buffer_slice(&w.out));
    }
}

/* Reads a page, whose memory lives until the next but one. */
static void read_page(struct export_user *e, const struct export_list *list, const char *owner_id,
                      struct arena *arena, struct list_key *place, struct export_rows *rows) {
    arena_reset(arena);
    store_hold_view(e->store);
    e->result = store_export_page(e->store, arena, list, owner_id, NULL, place, rows);
    store_release_view(e->store);
}

/* Writes the rows of an owner. */
static void write_list(struct export_user *e, const struct export_list *list,
                       const char *owner_id) {
    struct export_rows rows = {0};
    for (size_t page = 0; !rows.is_end && goes_on(e); page = !page) {
        read_page(e, list, owner_id, &e->pages[page], &e->place.row, &rows);
        if (goes_on(e))
            write_rows(e, &e->pages[page], &rows);
        if (goes_on(e) && e->sink->page)
            e->is_over = !e->sink->page(e->sink->context);
    }
}

/* --- owners --- */

/* Begins the rows of an owner: false if they are before the place. The owners of each kind come in
 * the order of their ids. */
static bool enter(struct export_user *e, enum export_owner owner, const char *id) {
    struct export_place *place = &e->place;
    const int order = strcmp(id, place->owners[owner]);
    if (order > 0) {
        snprintf(place->owners[owner], ID_SIZE, "%s", id);
        for (int i = (int)owner + 1; i < EXPORT_OWNERS; i++)
            place->owners[i][0] = '\0';
        if (owner != EXPORT_OF_THREAD)
            place->after[0] = '\0';
        place->row = (struct list_key){INT64_MIN, ""};
    }
    return order >= 0;
}

/* A reader of owners, whose pages live while the rows of each are written. */
struct owners {
    struct arena arenas[2];
    struct export_rows rows;
    struct list_key place;
    size_t page;
};

static void start_owners(struct owners *owners, const char *after) {
    *owners = (struct owners){.place = {INT64_MIN, after}};
    arena_init(&owners->arenas[0], MEMORY, NULL);
    arena_init(&owners->arenas[1], MEMORY, NULL);
}

/* Reads the next page of owners; false at the end, which frees the memory. */
static bool next_owners(struct export_user *e, struct owners *owners,
                        const struct export_list *list, const char *owner_id) {
    const bool has_next = !owners->rows.is_end && goes_on(e);
    if (has_next) {
        owners->page = !owners->page;
        read_page(e, list, owner_id, &owners->arenas[owners->page], &owners->place, &owners->rows);
    }
    if (has_next && goes_on(e))
        return true;
    arena_free(&owners->arenas[1]);
    arena_free(&owners->arenas[0]);
    return false;
}

/* Writes the rows of all owners of a kind that belong to `parent_id`, after those before the place.
 * At most EXPORT_OWNERS calls deep. */
static void write_owners(struct export_user *e, const struct export_part *part,
                         enum export_owner kind, const char *parent_id) {
    static const struct {
        const struct export_list *list;
        const char *key; /* the column that `enter` compares */
    } kinds[EXPORT_OWNERS] = {
        {&export_accounts, "id"}, {&export_lines, "id"}, {&export_threads, "contactId"}};
    const bool is_thread = kind == EXPORT_OF_THREAD;
    struct owners owners;
    start_owners(&owners, is_thread ? arena_copy(&e->kept, slice_of(e->place.after)) : "");
    while (next_owners(e, &owners, kinds[kind].list, parent_id))
        for (size_t i = 0; goes_on(e) && i < owners.rows.count; i++) {
            const char *key = export_value_of(&owners.rows, i, kinds[kind].key)->bytes.p;
            const char *id = export_value_of(&owners.rows, i, "id")->bytes.p;
            const bool is_entered = enter(e, kind, key);
            if (is_entered && kind == part->owner)
                write_list(e, part->list, id);
            else if (is_entered)
                write_owners(e, part, kind + 1, id);
            if (is_thread && goes_on(e))
                snprintf(e->place.after, ID_SIZE, "%s", key);
        }
}

enum store_result export_user_write(struct export_user *export, const struct export_part *part) {
    if (part->owner == EXPORT_OF_USER)
        write_list(export, part->list, export->user_id);
    else
        write_owners(export, part, EXPORT_OF_ACCOUNT, export->user_id);
    return export->result;
}

/* --- one document --- */

struct document {
    const struct export_sink *sink;
    struct arena arena;
    struct json_writer json;
};

static bool flush(void *context) {
    struct document *d = context;
    const bool is_taken =
        !d->json.out.n || d->sink->write(d->sink->context, buffer_slice(&d->json.out));
    d->json.out.n = 0;
    return is_taken;
}

static bool add_row(void *context, struct slice json) {
    struct document *d = context;
    json_write_raw(&d->json, NULL, json);
    return true;
}

static void write_head(struct document *d, const char *user_id, const char *email, int64_t now) {
    json_write_object(&d->json, NULL);
    json_write_integer(&d->json, "format", FORMAT);
    json_write_time(&d->json, "exportedAt", now);
    json_write_object(&d->json, "user");
    json_write_text(&d->json, "id", user_id);
    json_write_text(&d->json, "email", email);
    json_write_end(&d->json);
}

enum store_result export_write_user(struct store *store, const char *user_id, const char *email,
                                    int64_t now, const struct export_sink *sink) {
    struct document d = {.sink = sink};
    const struct export_user_sink rows = {add_row, flush, &d, NULL};
    struct export_user e;
    export_user_start(&e, store, user_id, &rows);
    arena_init(&d.arena, MEMORY, NULL);
    json_write_start(&d.json, &d.arena);
    write_head(&d, user_id, email, now);
    for (size_t i = 0; i < export_user_count && goes_on(&e); i++) {
        e.place = export_user_first();
        json_write_array(&d.json, export_user_parts[i].list->name);
        export_user_write(&e, &export_user_parts[i]);
        json_write_end(&d.json);
    }
    if (goes_on(&e)) {
        json_write_bool(&d.json, "isComplete", true);
        json_write_end(&d.json);
        flush(&d);
    }
    arena_free(&d.arena);
    export_user_end(&e);
    return e.result;
}
