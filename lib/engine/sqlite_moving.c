/* Moving a SQLite database to another one, and another one to SQLite. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/mover.h"
#include "engine/queue.h"
#include "engine/sqlite.h"

enum { DRAIN_S = 2 };

/* --- the tables of schema.sql --- */

static bool read_column(struct statement *row, struct arena *arena, struct move_table *table) {
    const char *type = column_text(row, 1, arena);
    const int64_t place = column_integer(row, 2); /* in the primary key, from 1 */
    if (table->column_count == MOVE_COLUMNS)
        return false;
    struct move_column *column = &table->columns[table->column_count];
    column->name = column_text(row, 0, arena);
    if (strcmp(type, "TEXT") == 0)
        column->kind = COLUMN_TEXT;
    else if (strcmp(type, "INTEGER") == 0)
        column->kind = COLUMN_INTEGER;
    else if (strcmp(type, "BLOB") == 0)
        column->kind = COLUMN_BLOB;
    else
        return false;
    if (place) {
        table->key[place - 1] = table->column_count;
        table->key_count++;
    }
    table->column_count++;
    return true;
}

static bool read_table(struct store *store, struct arena *arena, struct move_table *table) {
    static struct statement s = {.sql = "SELECT name, type, pk FROM pragma_table_info(?1)"};
    bool done = true;
    sql_start(store, &s, TEXT(table->name));
    while (sql_row(store, &s))
        done = read_column(&s, arena, table) && done;
    return done && table->key_count;
}

static bool read_tables(struct store *store, struct arena *arena, struct buffer *tables) {
    static struct statement s = {.sql = "SELECT name FROM sqlite_schema WHERE type = 'table'"};
    bool done = true;
    sql_start_with(store, &s, NULL, 0);
    while (sql_row(store, &s)) {
        struct move_table table = {.name = column_text(&s, 0, arena)};
        const struct schema_table *special = schema_find_table(table.name);
        if (special && special->is_local)
            continue;
        done = read_table(store, arena, &table) && done;
        buffer_add(tables, &table, sizeof table);
    }
    return done;
}

bool move_list_tables(struct arena *arena, struct move_table **tables, size_t *count) {
    struct store *store;
    struct buffer list = buffer_in(arena);
    bool done = sqlite_open_schema(&store) && read_tables(store, arena, &list);
    done = store && sql_result(store) == STORE_OK && done;
    store_close(store);
    *tables = buffer_array(&list, sizeof **tables, count);
    return done && *count;
}

/* --- the database --- */

static enum store_result connect_to(const char *target, struct store **store) {
    return sql_open(target, SQLITE_OPEN_READWRITE, store);
}

static bool read_schema_id(struct store *store, struct schema_id *id) {
    const bool is_ours = sql_read_schema_id(store, id);
    if (id->version && !is_ours && !store->failure)
        store->failure = sql_refuse(store, STORE_CONFLICT, "it belongs to another program");
    return !store->failure;
}

static bool set_version(struct store *store, int to) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", to);
    return sql_script(store, sql);
}

static bool has_mark(struct store *store) {
    return sql_integer(store, "SELECT count(*) FROM sqlite_schema WHERE name = '" MOVE_MARK "'") ==
           1;
}

/* Sets the owner of the directory, as for every file of the database. */
static bool adopt(struct store *store, const char *target) {
    char name[4096];
    struct stat directory;
    snprintf(name, sizeof name, "%s", target);
    if (geteuid() == 0 && (stat(dirname(name), &directory) != 0 ||
                           chown(target, directory.st_uid, directory.st_gid) != 0))
        store->failure = sql_refuse(store, STORE_UNAVAILABLE, "cannot set the owner of %s: %s",
                                    target, strerror(errno));
    return !store->failure;
}

/* Most answers of the platform come within this time. */
static bool drain(struct store *store, const char *target) {
    if (!queue_drain(target))
        store->failure = sql_refuse(store, STORE_UNAVAILABLE, "%s.queue cannot be locked: %s",
                                    target, strerror(errno));
    if (!store->failure)
        nanosleep(&(struct timespec){.tv_sec = DRAIN_S}, NULL);
    return !store->failure;
}

static bool stop_writers(struct store *store, const struct move_table *tables, size_t count) {
    (void)tables, (void)count;
    return store->driver->begin(store);
}

/* The rows of the copy are those of the source, whose references are checked, so that its end needs
 * no check. */
static bool check_references(struct store *store) {
    const int64_t dangling = sql_integer(store, "SELECT count(*) FROM pragma_foreign_key_check");
    if (dangling && !store->failure)
        store->failure = sql_refuse(store, STORE_CONFLICT, "%lld rows refer to a missing row",
                                    (long long)dangling);
    return !store->failure;
}

static bool commit(struct store *store) {
    store->driver->commit(store); /* syncs the write-ahead log */
    return !store->failure;
}

const struct mover sqlite_mover = {
    .driver = &sqlite_driver,
    .text = "TEXT",
    .connect = connect_to,
    .read_schema_id = read_schema_id,
    .set_version = set_version,
    .has_mark = has_mark,
    .adopt = adopt,
    .script = sql_script,
    .begin_view = "BEGIN",
    .begin_copy = "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE",
    .drain = drain,
    .stop_writers = stop_writers,
    .check_references = check_references,
    .commit = commit,
};
