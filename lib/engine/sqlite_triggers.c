#include "engine/sqlite_triggers.h"

#include <ctype.h>
#include <string.h>

#include "engine/sqlite.h"

struct trigger {
    const char *name, *table, *text;
};

struct trigger_list {
    struct trigger *items;
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

/* Lists the triggers by name. */
static struct trigger_list list_triggers(struct store *store, struct arena *arena) {
    static struct statement s = {.sql = "SELECT name, tbl_name, sql FROM sqlite_schema "
                                        "WHERE type = 'trigger' ORDER BY name"};
    struct buffer rows = buffer_in(arena);
    sql_start_with(store, &s, NULL, 0);
    while (sql_row(store, &s)) {
        const struct trigger trigger = {column_text(&s, 0, arena), column_text(&s, 1, arena),
                                        column_text(&s, 2, arena)};
        join_lines((char *)trigger.text);
        buffer_add(&rows, &trigger, sizeof trigger);
    }
    return (struct trigger_list){(struct trigger *)(void *)rows.p, rows.n / sizeof(struct trigger)};
}

/* Lists the triggers of schema.sql. */
static bool list_own(struct arena *arena, struct trigger_list *list) {
    struct store *store;
    if (sqlite_open_schema(&store))
        *list = list_triggers(store, arena);
    const bool is_done = sql_result(store) == STORE_OK;
    store_close(store);
    return is_done;
}

static const struct trigger *find(const struct trigger_list *list, const struct trigger *trigger) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, trigger->name) == 0 &&
            strcmp(list->items[i].text, trigger->text) == 0)
            return &list->items[i];
    return NULL;
}

/* Whether the trigger does what all triggers of the schema do. */
static bool is_usual(const struct trigger_list *own, const struct trigger *trigger) {
    const char *usual = own->count ? strstr(own->items[0].text, " BEGIN ") : NULL;
    const char *action = strstr(trigger->text, " BEGIN ");
    return usual && action && strcmp(usual, action) == 0;
}

const char *sqlite_compare_triggers(struct store *store, bool is_older, struct arena *arena) {
    struct trigger_list own = {0};
    if (!list_own(arena, &own))
        return "cannot be compared with the schema: memory is exhausted";
    const struct trigger_list found = list_triggers(store, arena);
    for (size_t i = 0; i < found.count; i++)
        if (is_older ? !is_usual(&own, &found.items[i]) : !find(&own, &found.items[i]))
            return arena_printf(arena,
                                "has the trigger %s on the table %s, which this program did not "
                                "make",
                                found.items[i].name, found.items[i].table);
    for (size_t i = 0; i < own.count && !is_older && !sql_failed(store); i++)
        if (!find(&found, &own.items[i]))
            return arena_printf(arena, "lacks the trigger %s on the table %s", own.items[i].name,
                                own.items[i].table);
    return NULL;
}
