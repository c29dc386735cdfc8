#include "engine/sqlite.h"

#include <ctype.h>
#include <string.h>

struct object {
    const char *type, *name, *table, *text;
};

struct object_list {
    struct object *items;
    size_t count;
};

/* Makes each run of white space one space: a migration may have written other line breaks. */
static void join_lines(char *text) {
    char *end = text;
    for (const char *p = text; *p; p++)
        if (!isspace((unsigned char)*p))
            *end++ = *p;
        else if (end > text && end[-1] != ' ')
            *end++ = ' ';
    *end = '\0';
}

/* The text of a table has its columns by name, since a migration adds them at the end. A backup
 * that a person changed may have any number of objects of any length. */
#define LIST                                                                                       \
    "SELECT type, substr(name, 1, 200), substr(tbl_name, 1, 200), "                                \
    "substr(CASE type WHEN 'table' THEN "                                                          \
    "(SELECT group_concat(c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || "              \
    "ifnull(c.dflt_value, '-') || ' ' || c.pk || ' ' || c.hidden, ', ') "                          \
    "FROM (SELECT * FROM pragma_table_xinfo(o.name) ORDER BY name) c) || "                         \
    "(SELECT ' strict ' || strict FROM pragma_table_list(o.name) WHERE schema = 'main') "          \
    "ELSE ifnull(sql, '') END, 1, 8192) FROM sqlite_schema o "                                     \
    "WHERE NOT (type = 'table' AND (name = 'sqlite_sequence' OR name GLOB 'sqlite_stat[1-4]')) "   \
    "ORDER BY type, name LIMIT 500"

/* Lists tables, indexes, views and triggers by type and name. */
static struct object_list list_objects(struct store *store, struct arena *arena) {
    static struct statement s = {.sql = LIST};
    struct buffer rows = buffer_in(arena);
    sql_start_with(store, &s, NULL, 0);
    while (sql_row(store, &s)) {
        const char *text = column_text(&s, 3, arena);
        const struct object object = {column_text(&s, 0, arena), column_text(&s, 1, arena),
                                      column_text(&s, 2, arena),
                                      text ? text : arena_printf(arena, "%s", "")};
        join_lines((char *)object.text);
        buffer_add(&rows, &object, sizeof object);
    }
    return (struct object_list){(struct object *)(void *)rows.p, rows.n / sizeof(struct object)};
}

/* Lists the objects of schema.sql. */
static bool list_own(struct arena *arena, struct object_list *list) {
    struct store *store;
    if (sqlite_open_schema(&store))
        *list = list_objects(store, arena);
    const bool is_done = sql_result(store) == STORE_OK;
    store_close(store);
    return is_done;
}

static bool is_in(const struct object_list *list, const struct object *object) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].type, object->type) == 0 &&
            strcmp(list->items[i].name, object->name) == 0 &&
            strcmp(list->items[i].text, object->text) == 0)
            return true;
    return false;
}

static bool is_trigger(const struct object *object) {
    return strcmp(object->type, "trigger") == 0;
}

/* Whether the object is no trigger, or one that does what all triggers of the schema do. */
static bool is_usual(const struct object_list *own, const struct object *object) {
    size_t i = 0;
    while (i < own->count && !is_trigger(&own->items[i]))
        i++;
    const char *usual = i < own->count ? strstr(own->items[i].text, " BEGIN ") : NULL;
    const char *action = strstr(object->text, " BEGIN ");
    return !is_trigger(object) || (usual && action && strcmp(usual, action) == 0);
}

/* The object with its type, and with the table that it belongs to. */
static const char *describe(struct arena *arena, const struct object *object) {
    const bool is_table = strcmp(object->name, object->table) == 0;
    return is_table ? arena_printf(arena, "the %s %s", object->type, object->name)
                    : arena_printf(arena, "the %s %s on the table %s", object->type, object->name,
                                   object->table);
}

const char *sqlite_compare_objects(struct store *store, bool is_older, struct arena *arena) {
    struct object_list own = {0};
    if (!list_own(arena, &own))
        return "cannot be compared with the schema: memory is exhausted";
    const struct object_list found = list_objects(store, arena);
    for (size_t i = 0; i < found.count; i++)
        if (is_older ? !is_usual(&own, &found.items[i]) : !is_in(&own, &found.items[i]))
            return arena_printf(arena, "has %s, which this program did not make",
                                describe(arena, &found.items[i]));
    for (size_t i = 0; i < own.count && !is_older && !sql_failed(store); i++)
        if (!is_in(&found, &own.items[i]))
            return arena_printf(arena, "lacks %s", describe(arena, &own.items[i]));
    return NULL;
}
