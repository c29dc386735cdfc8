/* A move, step by step:
 *
 * 1. All rows of the source are copied, while programs write to it.
 * 2. The writers of the source are stopped, and what changed meanwhile is copied. Number and hash
 *    of the rows of every table are compared.
 * 3. The target is committed, marked as incomplete: programs refuse it.
 * 4. The source is marked as moved: programs refuse it from then on, those that have it open too.
 * 5. Programs may use the target.
 */
#include "store/upkeep.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/target.h"
#include "engine/schema.h"
#include "store/move/move_row.h"

enum { SHOWN_TEXTS = 10 };

static const struct mover *const movers[] = {
    &sqlite_mover,
#ifdef SWITCHBOARD_POSTGRESQL
    &postgresql_mover,
#endif
};

/* One of the two databases. */
struct end {
    const char *target, *name; /* `name` may be printed */
    const struct mover *mover;
    struct store *store;
    struct move_side *sides; /* of each table */
    struct schema_id schema;
    struct mark {
        const char *id, *role, *other; /* NULL: there is no mark */
    } mark;
};

/* A table while it is moved. */
struct copied {
    FILE *entries; /* key and hash of each row that was copied, in the order of the keys */
    unsigned char source_hash[CRYPTO_HASH_SIZE], target_hash[CRYPTO_HASH_SIZE];
    int64_t rows;
};

struct moving {
    struct arena *arena;
    struct store_move *result;
    enum store_result failure;
    int64_t now;
    struct end source, target;
    struct move_table *tables;
    struct copied *copied;
    size_t count;
    char id[ID_SIZE];
};

/* --- failures --- */

__attribute__((format(printf, 2, 3))) static bool refuse(struct moving *m, const char *format,
                                                         ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    m->failure = STORE_CONFLICT;
    m->result->reason = arena_copy(m->arena, slice_of(text));
    return false;
}

static bool fail_end(struct moving *m, const struct end *end, enum store_result result) {
    refuse(m, "database %s: %s", end->name, store_reason(end->store));
    m->failure = result;
    return false;
}

/* True if both databases have no failure. */
static bool is_well(struct moving *m) {
    const struct end *const ends[] = {&m->source, &m->target};
    for (size_t i = 0; i < 2 && !m->failure; i++)
        if (ends[i]->store && sql_failed(ends[i]->store))
            fail_end(m, ends[i], sql_result(ends[i]->store));
    return !m->failure;
}

/* --- the two databases --- */

static bool choose_mover(struct moving *m, struct end *end) {
    const struct driver *driver = driver_of(end->target);
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++)
        if (movers[i]->driver == driver)
            end->mover = movers[i];
    if (end->mover)
        return true;
    driver_refuse(end->target, &end->store);
    return fail_end(m, end, STORE_UNAVAILABLE);
}

/* Runs a statement that has no table of the schema. */
static bool run_mark(struct end *end, struct arena *arena, const char *sql,
                     const struct parameter *parameters, size_t count) {
    struct statement *s = arena_alloc(arena, sizeof *s);
    *s = (struct statement){sql, NULL, NULL, NULL, false};
    sql_start_with(end->store, s, parameters, count);
    return !sql_row(end->store, s) && !sql_failed(end->store);
}

static void run_script(const struct end *end, const char *sql) {
    if (sql)
        end->mover->script(end->store, sql);
}

#define OF_MARK(member) ROW_MEMBER(struct mark, member)
static const struct row_layout mark_layout =
    ROW_LAYOUT(struct mark, OF_MARK(id), OF_MARK(role), OF_MARK(other));

static void read_mark(struct moving *m, struct end *end) {
    struct statement *s = arena_alloc(m->arena, sizeof *s);
    *s = (struct statement){"SELECT id, role, other FROM " MOVE_MARK, NULL, NULL, NULL, false};
    if (!end->mover->has_mark(end->store))
        return;
    sql_start_with(end->store, s, NULL, 0);
    row_find(end->store, s, m->arena, &mark_layout, &end->mark);
}

/* Writes the only mark, within the open transaction. */
static bool write_mark(struct moving *m, struct end *end, const char *role,
                       const struct end *other) {
    const struct parameter values[] = {TEXT(m->id), TEXT(role), TEXT(other->name), INTEGER(m->now)};
    if (!end->mark.id && !end->mover->has_mark(end->store))
        run_mark(end, m->arena,
                 arena_printf(m->arena,
                              "CREATE TABLE " MOVE_MARK " (id %s NOT NULL, role %s NOT NULL, "
                              "other %s NOT NULL, moved_at BIGINT NOT NULL)",
                              end->mover->text, end->mover->text, end->mover->text),
                 NULL, 0);
    run_mark(end, m->arena, "DELETE FROM " MOVE_MARK, NULL, 0);
    run_mark(end, m->arena,
             "INSERT INTO " MOVE_MARK " (id, role, other, moved_at) VALUES (?1, ?2, ?3, ?4)",
             values, 4);
    return is_well(m) && end->mover->set_version(end->store, -schema_version);
}

static bool connect_end(struct moving *m, struct end *end) {
    enum store_result result = end->mover->connect(end->target, &end->store);
    if (result != STORE_OK)
        return fail_end(m, end, result);
    if (end->mover->claim)
        end->mover->claim(end->store);
    end->mover->read_schema_id(end->store, &end->schema);
    if (is_well(m))
        read_mark(m, end);
    return is_well(m);
}

static bool has_role(const struct end *end, const char *role) {
    return end->mark.id && strcmp(end->mark.role, role) == 0;
}

static void make_sides(struct moving *m, struct end *end) {
    end->sides = arena_alloc(m->arena, m->count * sizeof *end->sides);
    for (size_t i = 0; i < m->count; i++)
        move_side_make(&end->sides[i], end->store, &m->tables[i], m->arena);
}

/* A database with a negative version was checked before its content was moved. */
static bool check_schema(struct moving *m, const struct end *end) {
    char reason[512];
    if (end->schema.version >= 0 && schema_mismatch(&end->schema, reason, sizeof reason))
        return refuse(m, "database %s: %s", end->name, reason);
    return true;
}

static bool open_source(struct moving *m) {
    struct end *source = &m->source;
    if (!connect_end(m, source))
        return false;
    if (source->schema.version < 0 && !has_role(source, "source"))
        return refuse(m,
                      "database %s: a copy to it is incomplete: repeat that `switchboard "
                      "copy-to` first",
                      source->name);
    if (!check_schema(m, source))
        return false;
    make_sides(m, source);
    return true;
}

static bool create_target(struct moving *m) {
    struct end *target = &m->target;
    int from, to;
    store_close(target->store);
    enum store_result result = store_migrate(target->target, &from, &to, &target->store);
    if (result != STORE_OK)
        return fail_end(m, target, result);
    if (target->mover->adopt && !target->mover->adopt(target->store, target->target))
        return is_well(m);
    store_close(target->store);
    target->store = NULL;
    return connect_end(m, target);
}

static bool open_target(struct moving *m) {
    struct end *target = &m->target;
    const char *file = target_file(target->target);
    FILE *found = file ? fopen(file, "re") : NULL;
    const bool is_there = !file || found;
    if (found)
        fclose(found);
    if (is_there && !connect_end(m, target))
        return false;
    if (m->source.schema.version < 0 && !target->mark.id)
        return refuse(m, "database %s: its content was moved to %s already", m->source.name,
                      m->source.mark.other);
    if (!target->schema.version && !create_target(m))
        return false;
    if (target->schema.version < 0 && !has_role(target, "target"))
        return refuse(m, "database %s: its own content was moved to %s: name an empty database",
                      target->name, target->mark.id ? target->mark.other : "another one");
    if (!check_schema(m, target))
        return false;
    make_sides(m, target);
    return true;
}

/* --- what stands before the copy --- */

/* Adds a text that a server refuses to the list. */
static void add_bad_text(struct moving *m, const struct move_reader *reader, int column,
                         struct buffer *list) {
    const struct move_table *table = reader->side->table;
    const struct slice text = reader->values[column].bytes;
    buffer_printf(list, "; table %s, column %s, row %s: %s", table->name,
                  table->columns[column].name, move_show_key(table, reader->key, m->arena),
                  memchr(text.p, '\0', text.n) ? "a NUL byte" : "not UTF-8");
}

/* Finds the texts that PostgreSQL cannot store, before anything is copied. */
static bool check_texts(struct moving *m) {
    struct buffer list = buffer_in(m->arena);
    long long found = 0;
    for (size_t i = 0; i < m->count && is_well(m); i++) {
        struct move_reader reader;
        move_reader_open(&reader, &m->source.sides[i]);
        while (move_reader_next(&reader)) {
            const int column = move_bad_text(&m->tables[i], reader.values);
            if (column >= 0 && found++ < SHOWN_TEXTS)
                add_bad_text(m, &reader, column, &list);
        }
        move_reader_close(&reader);
    }
    if (!is_well(m))
        return false;
    return !found ||
           refuse(m,
                  "database %s: %lld rows have a text that the target cannot store, "
                  "and nothing was copied: correct or delete them%s%s",
                  m->source.name, found, list.p, found > SHOWN_TEXTS ? "; and others" : "");
}

/* An incomplete copy may be replaced, rows of a database that was in use may not. */
static bool empty_target(struct moving *m) {
    struct end *target = &m->target;
    for (size_t i = 0; i < m->count && is_well(m); i++) {
        struct move_reader reader;
        if (target->schema.version < 0) {
            run_mark(target, m->arena,
                     arena_printf(m->arena, "DELETE FROM \"%s\"", m->tables[i].name), NULL, 0);
            continue;
        }
        move_reader_open(&reader, &target->sides[i]);
        if (move_reader_next(&reader))
            refuse(m, "database %s: it has rows already, in the table %s: name an empty database",
                   target->name, m->tables[i].name);
        move_reader_close(&reader);
    }
    return is_well(m);
}

/* --- entries --- */

struct entry {
    unsigned char hash[CRYPTO_HASH_SIZE];
    struct slice key; /* encoded; p == NULL: there is no more entry */
};

static void write_entry(FILE *file, const unsigned char hash[CRYPTO_HASH_SIZE], struct slice key) {
    fwrite(hash, CRYPTO_HASH_SIZE, 1, file);
    fwrite(&key.n, sizeof key.n, 1, file);
    fwrite(key.p, 1, key.n, file);
}

/* Reads the next entry into `entry`, whose key is in the buffer. */
static void read_entry(FILE *file, struct entry *entry, struct buffer *key) {
    size_t n = 0;
    entry->key = (struct slice){NULL, 0};
    key->n = 0;
    if (fread(entry->hash, sizeof entry->hash, 1, file) != 1 || fread(&n, sizeof n, 1, file) != 1)
        return;
    char *bytes = buffer_reserve(key, n + 1);
    if (fread(bytes, 1, n, file) == n)
        entry->key = (struct slice){bytes, n};
}

static bool rewind_entries(struct moving *m, FILE *file) {
    if (fflush(file) != 0 || ferror(file))
        return refuse(m, "the directory of temporary files is full; nothing was moved");
    rewind(file);
    return true;
}

static void add_hash(unsigned char sum[CRYPTO_HASH_SIZE],
                     const unsigned char hash[CRYPTO_HASH_SIZE]) {
    for (size_t i = 0; i < CRYPTO_HASH_SIZE; i++)
        sum[i] ^= hash[i];
}

/* Compares the bytes; a prefix is less. */
static int compare(struct slice a, struct slice b) {
    const int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* --- writing --- */

static bool start_rows(struct end *target, size_t table) {
    const struct mover *mover = target->mover;
    return !mover->load_start || mover->load_start(target->store, target->sides[table].table);
}

static bool write_row(struct end *target, size_t table, const struct parameter *values) {
    struct move_side *side = &target->sides[table];
    if (target->mover->load_row)
        return target->mover->load_row(target->store, side->table, values);
    sql_start_with(target->store, &side->insert, values, side->table->column_count);
    return !sql_row(target->store, &side->insert) && !sql_failed(target->store);
}

static bool end_rows(struct end *target, size_t table) {
    const struct mover *mover = target->mover;
    return !mover->load_end || mover->load_end(target->store, target->sides[table].table);
}

/* --- the copy, while programs use the source --- */

static bool copy_rows(struct moving *m, size_t i) {
    struct move_reader reader;
    struct buffer key = buffer_in(m->arena), scratch = buffer_in(m->arena);
    unsigned char hash[CRYPTO_HASH_SIZE];
    bool done = start_rows(&m->target, i);
    move_reader_open(&reader, &m->source.sides[i]);
    while (done && move_reader_next(&reader)) {
        key.n = 0;
        move_encode_key(&m->tables[i], reader.key, &key);
        move_hash(&m->tables[i], reader.values, &scratch, hash);
        write_entry(m->copied[i].entries, hash, buffer_slice(&key));
        done = write_row(&m->target, i, reader.values);
    }
    move_reader_close(&reader);
    return done && end_rows(&m->target, i) && is_well(m);
}

/* Reads the copy back: it must have the rows that were read. */
static bool check_rows(struct moving *m, size_t i) {
    struct move_reader reader;
    struct copied *copied = &m->copied[i];
    struct buffer bytes = buffer_in(m->arena), key = buffer_in(m->arena),
                  scratch = buffer_in(m->arena);
    struct entry entry;
    unsigned char hash[CRYPTO_HASH_SIZE];
    if (!rewind_entries(m, copied->entries))
        return false;
    move_reader_open(&reader, &m->target.sides[i]);
    while (is_well(m) && move_reader_next(&reader)) {
        key.n = 0;
        move_encode_key(&m->tables[i], reader.key, &key);
        move_hash(&m->tables[i], reader.values, &scratch, hash);
        add_hash(copied->target_hash, hash);
        read_entry(copied->entries, &entry, &bytes);
        if (!entry.key.p || compare(entry.key, buffer_slice(&key)) != 0 ||
            memcmp(entry.hash, hash, sizeof hash) != 0)
            refuse(m, "the copy differs from its source: table %s, row %s", m->tables[i].name,
                   move_show_key(&m->tables[i], reader.key, m->arena));
    }
    move_reader_close(&reader);
    if (!is_well(m))
        return false;
    read_entry(copied->entries, &entry, &bytes);
    return !entry.key.p ||
           refuse(m, "the copy has fewer rows of the table %s than its source", m->tables[i].name);
}

static bool copy(struct moving *m) {
    const int64_t started = clock_monotonic();
    run_script(&m->target, m->target.mover->begin_copy);
    if (!is_well(m) || !empty_target(m))
        return false;
    for (size_t i = 0; i < m->count; i++) {
        if (!(m->copied[i].entries = tmpfile()))
            return refuse(m, "cannot create a temporary file");
        if (!copy_rows(m, i))
            return is_well(m);
    }
    m->target.mover->check_references(m->target.store);
    for (size_t i = 0; i < m->count && is_well(m); i++)
        check_rows(m, i);
    m->result->copy_ms = clock_monotonic() - started;
    return is_well(m);
}

/* --- the stop: what changed since the copy --- */

/* Rows to be inserted, in an arena of their own. */
struct changes {
    struct moving *m;
    size_t table;
    struct arena arena;
    struct buffer rows; /* of struct parameter, column_count each */
    size_t count;
};

static void drop_row(struct changes *changes, const struct entry *entry) {
    struct moving *m = changes->m;
    struct move_side *side = &m->target.sides[changes->table];
    struct parameter key[MOVE_COLUMNS];
    move_decode_key(side->table, entry->key, key, &changes->arena);
    sql_start_with(side->store, &side->drop, key, side->table->key_count);
    sql_row(side->store, &side->drop);
    add_hash(m->copied[changes->table].target_hash, entry->hash);
    m->result->changes++;
}

static void add_row(struct changes *changes, const struct parameter *values) {
    const size_t count = changes->m->tables[changes->table].column_count;
    for (size_t i = 0; i < count; i++) {
        struct parameter value = values[i];
        if (value.bytes.p)
            value.bytes.p = arena_copy(&changes->arena, value.bytes);
        buffer_add(&changes->rows, &value, sizeof value);
    }
    changes->count++;
}

/* Adds the hashes of the inserted rows, as the target returns them. */
static bool read_back(struct changes *changes, const struct parameter *values) {
    struct moving *m = changes->m;
    struct move_side *side = &m->target.sides[changes->table];
    struct parameter key[MOVE_COLUMNS], found[MOVE_COLUMNS];
    struct buffer scratch = buffer_in(&changes->arena);
    unsigned char hash[CRYPTO_HASH_SIZE];
    move_key_of(side->table, values, key);
    sql_start_with(side->store, &side->find, key, side->table->key_count);
    if (!sql_row(side->store, &side->find))
        return is_well(m); /* the number of rows will differ */
    move_read_values(side->table, &side->find, found);
    move_hash(side->table, found, &scratch, hash);
    sql_stop(&side->find);
    add_hash(m->copied[changes->table].target_hash, hash);
    return true;
}

static bool insert_rows(struct changes *changes) {
    struct moving *m = changes->m;
    const struct parameter *rows = (const struct parameter *)(const void *)changes->rows.p;
    const size_t columns = m->tables[changes->table].column_count;
    if (!changes->count)
        return is_well(m);
    bool done = is_well(m) && start_rows(&m->target, changes->table);
    for (size_t i = 0; i < changes->count && done; i++)
        done = write_row(&m->target, changes->table, rows + i * columns);
    done = done && end_rows(&m->target, changes->table);
    for (size_t i = 0; i < changes->count && done; i++)
        done = read_back(changes, rows + i * columns);
    return is_well(m);
}

/* Compares the rows of the source with the entries, both in the order of their keys. */
static void find_changes(struct changes *changes, struct move_reader *reader) {
    struct moving *m = changes->m;
    struct copied *copied = &m->copied[changes->table];
    const struct move_table *table = &m->tables[changes->table];
    struct buffer bytes = buffer_in(m->arena), key = buffer_in(m->arena),
                  scratch = buffer_in(m->arena);
    struct entry entry;
    unsigned char hash[CRYPTO_HASH_SIZE];
    read_entry(copied->entries, &entry, &bytes);
    while (move_reader_next(reader)) {
        key.n = 0;
        move_encode_key(table, reader->key, &key);
        move_hash(table, reader->values, &scratch, hash);
        add_hash(copied->source_hash, hash);
        copied->rows++;
        for (; entry.key.p && compare(entry.key, buffer_slice(&key)) < 0;
             read_entry(copied->entries, &entry, &bytes))
            drop_row(changes, &entry);
        const bool is_copied = entry.key.p && compare(entry.key, buffer_slice(&key)) == 0;
        const bool is_changed = !is_copied || memcmp(entry.hash, hash, sizeof hash) != 0;
        if (is_copied && is_changed)
            drop_row(changes, &entry);
        if (is_copied)
            read_entry(copied->entries, &entry, &bytes);
        if (is_changed)
            add_row(changes, reader->values);
        if (!is_copied)
            m->result->changes++;
    }
    for (; entry.key.p; read_entry(copied->entries, &entry, &bytes))
        drop_row(changes, &entry);
}

static bool check_new_texts(struct changes *changes) {
    struct moving *m = changes->m;
    const struct move_table *table = &m->tables[changes->table];
    const struct parameter *row = (const struct parameter *)(const void *)changes->rows.p;
    for (size_t i = 0; i < changes->count; i++, row += table->column_count)
        if (move_bad_text(table, row) >= 0)
            return refuse(m,
                          "a row of the table %s that was written meanwhile has a text that "
                          "the target cannot store; nothing was moved",
                          table->name);
    return true;
}

static bool move_changes(struct moving *m, size_t i) {
    struct changes changes = {.m = m, .table = i};
    struct move_reader reader;
    if (!rewind_entries(m, m->copied[i].entries))
        return false;
    arena_init(&changes.arena, (size_t)2 << 30, NULL);
    changes.rows = buffer_in(&changes.arena);
    move_reader_open(&reader, &m->source.sides[i]);
    find_changes(&changes, &reader);
    move_reader_close(&reader);
    const bool done = is_well(m) && check_new_texts(&changes) && insert_rows(&changes);
    arena_free(&changes.arena);
    return done;
}

/* Compares number and hash of the rows, and notes them in the result. */
static bool compare_table(struct moving *m, size_t i) {
    struct move_side *side = &m->target.sides[i];
    const struct copied *copied = &m->copied[i];
    sql_start_with(side->store, &side->count, NULL, 0);
    const int64_t rows = row_integer(side->store, &side->count, -1);
    if (!is_well(m))
        return false;
    if (rows != copied->rows)
        return refuse(m,
                      "table %s has %lld rows in the source and %lld in the target; nothing "
                      "was moved",
                      side->table->name, (long long)copied->rows, (long long)rows);
    if (memcmp(copied->source_hash, copied->target_hash, CRYPTO_HASH_SIZE) != 0)
        return refuse(m,
                      "the rows of the table %s differ between source and target; nothing was "
                      "moved",
                      side->table->name);
    m->result->rows += rows;
    m->result->tables[i] = (struct store_moved_table){
        side->table->name, rows, crypto_hex(m->arena, copied->target_hash, CRYPTO_HASH_SIZE)};
    return true;
}

/* --- handing over --- */

/* The target is complete and the source is closed: programs may use the target. */
static bool open_copy(struct moving *m) {
    struct end *target = &m->target;
    target->mover->set_version(target->store, schema_version);
    return is_well(m);
}

/* The order makes a kill harmless: both databases are closed for a moment, and never both open with
 * the same content. */
static bool hand_over(struct moving *m) {
    const struct end *source = &m->source, *target = &m->target;
    if (!write_mark(m, &m->target, "target", source))
        return false;
    run_script(target, target->mover->end_copy);
    if (is_well(m))
        target->mover->commit(target->store);
    if (!is_well(m) || !write_mark(m, &m->source, "source", target))
        return false;
    if (source->mover->refuse_writers)
        source->mover->refuse_writers(source->store, m->tables, m->count);
    if (is_well(m))
        source->mover->commit(source->store);
    return is_well(m) && open_copy(m);
}

static bool stop_and_move(struct moving *m) {
    struct end *source = &m->source;
    const int64_t drained = clock_monotonic();
    if (source->mover->drain && !source->mover->drain(source->store, source->target))
        return is_well(m);
    source->mover->stop_writers(source->store, m->tables, m->count);
    const int64_t stopped = clock_monotonic();
    m->result->drain_ms = source->mover->drain ? stopped - drained : 0;
    if (is_well(m) && source->mover->read_schema_id(source->store, &source->schema) &&
        source->schema.version != schema_version)
        return is_well(m) &&
               refuse(m, "database %s: another `switchboard copy-to` moved it", source->name);
    for (size_t i = 0; i < m->count && is_well(m); i++)
        if (move_changes(m, i))
            compare_table(m, i);
    if (!is_well(m) || !hand_over(m))
        return false;
    m->result->stop_ms = clock_monotonic() - stopped;
    if (source->mover->end_readers)
        source->mover->end_readers(source->store);
    return true;
}

/* The source was moved: ends an interrupted call to the same target. */
static bool end_former(struct moving *m) {
    struct end *source = &m->source, *target = &m->target;
    if (!open_target(m))
        return false;
    if (!target->mark.id || strcmp(target->mark.id, source->mark.id) != 0)
        return refuse(m, "database %s: its content was moved to %s already", source->name,
                      source->mark.other);
    m->result->was_done = true;
    return target->schema.version > 0 || open_copy(m);
}

static bool move_all(struct moving *m) {
    struct end *source = &m->source, *target = &m->target;
    if (!choose_mover(m, source) || !choose_mover(m, target))
        return false;
    if (source->mover == target->mover)
        return refuse(m, "this command moves between SQLite and PostgreSQL; `switchboard backup`, "
                         "or pg_dump on a server, copies a database");
    if (!move_list_tables(m->arena, &m->tables, &m->count))
        return refuse(m, "the schema of this program cannot be moved");
    m->copied = arena_alloc(m->arena, m->count * sizeof *m->copied);
    m->result->tables = arena_alloc(m->arena, m->count * sizeof *m->result->tables);
    m->result->table_count = m->count;
    if (!open_source(m))
        return false;
    if (source->schema.version < 0)
        return end_former(m);
    run_script(source, source->mover->begin_view);
    if (!is_well(m) || !check_texts(m) || !open_target(m) || !copy(m))
        return false;
    run_script(source, "COMMIT");
    return is_well(m) && stop_and_move(m);
}

enum store_result store_move(const char *source, const char *target, struct arena *arena,
                             int64_t now, struct store_move *result) {
    struct moving m = {.arena = arena,
                       .result = result,
                       .now = now,
                       .source = {.target = source, .name = target_name(arena, source)},
                       .target = {.target = target, .name = target_name(arena, target)}};
    *result = (struct store_move){.reason = ""};
    id_make(m.id, "mov_", now);
    move_all(&m);
    for (size_t i = 0; i < m.count && m.copied; i++)
        if (m.copied[i].entries)
            fclose(m.copied[i].entries);
    store_close(m.target.store);
    store_close(m.source.store);
    return m.failure;
}
