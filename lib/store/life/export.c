/* Reads the lists of an export (export_list.c) page by page. */
#include "store/export.h"

#include "engine/row.h"
#include "store/contact.h"
#include "store/life/person.h"
#include "store/life/removal.h"

enum {
    ROWS_AT_ONCE = 100,
    BYTES_AT_ONCE = 1024 * 1024, /* after which a page ends */
    MEMORY_OF_ROW = 64 * 1024 * 1024,
};

/* --- rows --- */

/* Rows that are being read. */
struct reading {
    struct store *store;
    struct arena *arena;
    const struct person *only; /* NULL: all rows */
    struct arena scratch;      /* of a body that may be left out */
    size_t bytes;              /* of what was read */
    struct buffer values;
};

static size_t count_columns(const struct export_list *list) {
    size_t n = 0;
    while (n < EXPORT_COLUMNS && list->columns[n].kind != EXPORT_END)
        n++;
    return n;
}

static void read_value(struct reading *r, const struct export_list *list, size_t column,
                       struct arena *arena, struct export_value *value) {
    struct statement *s = list->statement;
    const int i = (int)column;
    *value = (struct export_value){.is_null = column_is_null(s, i)};
    if (value->is_null)
        return;
    switch (list->columns[column].kind) {
    case EXPORT_JSON: value->bytes = column_blob(s, i, arena); break;
    case EXPORT_TEXT:
    case EXPORT_JSON_TEXT:
    case EXPORT_WORDS:
    case EXPORT_HOST: value->bytes = slice_of(column_text(s, i, arena)); break;
    default: value->integer = column_integer(s, i);
    }
    r->bytes += value->bytes.n;
}

/* Whether the body of the row, in its last column, names the person; sets `is_alone`. */
static bool is_wanted(struct reading *r, const struct export_list *list, size_t columns,
                      bool *is_alone) {
    struct export_value body;
    *is_alone = true;
    if (!r->only)
        return true;
    arena_reset(&r->scratch);
    read_value(r, list, columns - 1, &r->scratch, &body);
    *is_alone = person_is_alone(r->only, body.bytes);
    return person_is_named(r->only, &r->scratch, body.bytes);
}

/* Adds the row at which the statement stands, unless it is not wanted. */
static void add_row(struct reading *r, const struct export_list *list, size_t columns) {
    struct export_value value;
    bool is_alone;
    if (!is_wanted(r, list, columns, &is_alone))
        return;
    for (size_t i = 0; i < columns; i++) {
        if (i == columns - 1 && !is_alone)
            value = (struct export_value){.is_null = true};
        else
            read_value(r, list, i, r->arena, &value);
        buffer_add(&r->values, &value, sizeof value);
    }
}

static void set_rows(struct reading *r, const struct export_list *list, struct export_rows *rows) {
    *rows = (struct export_rows){.list = list,
                                 .columns = count_columns(list),
                                 .values = (const struct export_value *)(void *)r->values.p};
    rows->count = r->values.n / sizeof *rows->values / rows->columns;
}

/* Reads the parts of the page between the two places. */
static void read_parts(struct store *store, struct arena *arena, const struct export_list *list,
                       const char *owner_id, const struct list_key *from, const struct list_key *to,
                       struct export_rows *rows) {
    const struct parameter timed[] = {TEXT(owner_id), INTEGER(from->number), TEXT(from->id),
                                      INTEGER(to->number), TEXT(to->id)};
    const struct parameter plain[] = {TEXT(owner_id), TEXT(from->id), TEXT(to->id)};
    struct export_rows *parts = arena_alloc(arena, EXPORT_PARTS * sizeof *parts);
    for (size_t i = 0; list->parts && list->parts[i].name; i++) {
        const struct export_list *part = &list->parts[i];
        struct reading r = {.store = store, .arena = arena, .values = buffer_in(arena)};
        sql_start_with(store, part->statement, list->has_time ? timed : plain,
                       list->has_time ? 5 : 3);
        while (sql_row(store, part->statement))
            add_row(&r, part, count_columns(part));
        set_rows(&r, part, &parts[i]);
    }
    rows->parts = parts;
}

/* Reads the rows of a page, and sets `place` to the last one. */
static void read_page(struct reading *r, const struct export_list *list, const char *owner_id,
                      size_t limit, struct list_key *place, struct export_rows *rows) {
    struct statement *s = list->statement;
    const size_t columns = count_columns(list);
    const struct parameter timed[] = {TEXT(owner_id), INTEGER(place->number), TEXT(place->id),
                                      INTEGER((int64_t)limit)};
    const struct parameter plain[] = {TEXT(owner_id), TEXT(place->id), INTEGER((int64_t)limit)};
    size_t n = 0;
    sql_start_with(r->store, s, list->has_time ? timed : plain, list->has_time ? 4 : 3);
    while (r->bytes < BYTES_AT_ONCE && sql_row(r->store, s)) {
        n++;
        if (list->has_time)
            place->number = column_integer(s, 0);
        place->id = column_text(s, list->has_time, r->arena);
        add_row(r, list, columns);
    }
    const bool is_cut = r->bytes >= BYTES_AT_ONCE;
    if (is_cut)
        sql_stop(s);
    set_rows(r, list, rows);
    rows->is_end = n < limit && !is_cut;
}

static enum store_result read_some(struct store *store, struct arena *arena,
                                   const struct export_list *list, const char *owner_id,
                                   const struct person *only, size_t limit, struct list_key *place,
                                   struct export_rows *rows) {
    struct reading r = {.store = store, .arena = arena, .only = only, .values = buffer_in(arena)};
    const struct list_key from = *place;
    arena_init(&r.scratch, MEMORY_OF_ROW, arena->exhausted);
    read_page(&r, list, owner_id, limit, place, rows);
    arena_free(&r.scratch);
    read_parts(store, arena, list, owner_id, &from, place, rows);
    return sql_result(store);
}

enum store_result store_export_page(struct store *store, struct arena *arena,
                                    const struct export_list *list, const char *owner_id,
                                    const struct person *only, struct list_key *place,
                                    struct export_rows *rows) {
    return read_some(store, arena, list, owner_id, only, ROWS_AT_ONCE, place, rows);
}

/* --- a person --- */

enum store_result store_export_contact(struct store *store, struct arena *arena,
                                       const struct store_export *export,
                                       struct export_rows *rows) {
    /* The place before the id: the id of the same length that is one less, and U+007F, which sorts
     * after all ids. */
    char *before = arena_printf(arena, "%s\x7f", export->contact_id);
    before[strlen(export->contact_id) - 1]--;
    struct list_key place = {0, before};
    enum store_result result =
        read_some(store, arena, &export_contacts, export->account_id, NULL, 1, &place, rows);
    if (rows->count && !slice_equal(rows->values[0].bytes, slice_of(export->contact_id)))
        rows->count = 0; /* another one: it is gone */
    return result;
}

#define OF(member) ROW_MEMBER(struct store_export, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_export, OF(user_id), OF(waba_id), OF(account_name));

static bool read_owner(struct store *store, struct arena *arena, struct store_export *export) {
    static struct statement s = {
        .sql = "SELECT a.user_id, a.waba_id, a.name FROM account a WHERE a.id = ?1 "
               "AND NOT EXISTS (SELECT 1 FROM erasure e WHERE e.contact_id = ?2 "
               "AND e.ended_at IS NULL)"};
    sql_start(store, &s, TEXT(export->account_id), TEXT(export->contact_id));
    return row_fill(store, &s, arena, &layout, export);
}

static void read_former_ids(struct store *store, struct arena *arena, struct store_export *export) {
    static struct statement s = {.sql = "SELECT merged_id FROM contact_merge WHERE contact_id = ?1 "
                                        "AND merged_id IS NOT NULL"};
    sql_start(store, &s, TEXT(export->contact_id));
    export->former_ids = sql_read_ids(store, &s, arena, &export->former_count);
}

enum store_result store_find_export(struct store *store, struct arena *arena, const char *user_id,
                                    const char *id, struct store_export *export) {
    struct contact contact;
    struct person *person = arena_alloc(arena, sizeof *person);
    const char **identities;
    size_t count;
    if (!contact_find_of_user(store, arena, user_id, id, &contact))
        return sql_found(store, false);
    *export = (struct store_export){
        .contact_id = contact.id, .account_id = contact.account_id, .person = person};
    if (!read_owner(store, arena, export) ||
        !removal_list_identities(store, arena, contact.id, &identities, &count))
        return sql_found(store, false);
    read_former_ids(store, arena, export);
    struct buffer names = buffer_in(arena);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&names, "%s\n", identities[i]);
    person->names = buffer_slice(&names);
    return sql_result(store);
}
