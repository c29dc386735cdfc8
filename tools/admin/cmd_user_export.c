/* switchboard user export: all that is held for a user, one file of JSON lines for each kind of
 * rows.
 *
 * After some megabytes, and with each file, the bytes are synchronized and progress.json says how
 * far the export has come: a later run with the same directory cuts the file there and goes on. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/export_row.h"

enum {
    BYTES_BETWEEN = 4 * 1024 * 1024, /* after which the progress is stored */
    MEMORY = 192 * 1024 * 1024,      /* of a page */
};

/* What the rows of a file are listed by. */
enum owner { OWNER_ACCOUNT, OWNER_LINE, OWNER_THREAD, OWNERS, OWNER_USER };

static const struct export_file {
    const struct export_list *list;
    enum owner owner;
} files[] = {
    {&export_accounts, OWNER_USER},       {&export_lines, OWNER_ACCOUNT},
    {&export_members, OWNER_USER},        {&export_webhooks, OWNER_USER},
    {&export_templates, OWNER_ACCOUNT},   {&export_forms, OWNER_ACCOUNT},
    {&export_contacts, OWNER_ACCOUNT},    {&export_messages, OWNER_THREAD},
    {&export_events_of_user, OWNER_USER}, {&export_updates, OWNER_ACCOUNT},
    {&export_trail, OWNER_USER},
};
enum { FILES = sizeof files / sizeof *files };

/* How far an export has come. */
struct progress {
    int64_t file, size, rows;     /* the file, its bytes; the rows of all files */
    char owners[OWNERS][ID_SIZE]; /* those whose rows are being written; of a thread its contact */
    char after[ID_SIZE];          /* the contact of the thread before */
    struct list_key place;        /* the last row */
};

struct export {
    struct invocation *call;
    const char *directory, *user_id;
    int descriptor;  /* of the directory */
    FILE *file;      /* that is being written */
    int64_t unsaved; /* bytes */
    struct progress at;
    struct arena kept, pages[2], text;
    enum store_result result;
    const char *problem; /* of the directory; NULL: none */
};

static bool goes_on(const struct export *e) {
    return !e->problem && e->result == STORE_OK;
}

static void refuse(struct export *e, const char *what, const char *name) {
    if (!e->problem)
        e->problem =
            arena_printf(&e->kept, "%s/%s: %s: %s", e->directory, name, what, strerror(errno));
}

static const char *name_of(struct export *e, int64_t file) {
    return arena_printf(&e->kept, "%s.jsonl", files[file].list->name);
}

/* --- progress.json --- */

#define PROGRESS     "progress.json"
#define NEW_PROGRESS "progress.new"

static struct slice progress_text(struct export *e, struct json_writer *w) {
    static const char *const names[] = {"account", "line", "thread"};
    json_write_start(w, &e->text);
    json_write_object(w, NULL);
    json_write_text(w, "user", e->user_id);
    json_write_bool(w, "isComplete", e->at.file == FILES);
    json_write_integer(w, "file", e->at.file);
    json_write_integer(w, "size", e->at.size);
    json_write_integer(w, "rows", e->at.rows);
    for (int i = 0; i < OWNERS; i++)
        json_write_text(w, names[i], e->at.owners[i]);
    json_write_text(w, "after", e->at.after);
    json_write_integer(w, "number", e->at.place.number);
    json_write_text(w, "id", e->at.place.id);
    json_write_end(w);
    return json_written(w);
}

/* Stores how far the export has come, after the bytes of the file. */
static void save(struct export *e) {
    struct json_writer w;
    arena_reset(&e->text);
    if (e->file) {
        if (fflush(e->file) != 0 || fsync(fileno(e->file)) != 0)
            refuse(e, "it cannot be written", name_of(e, e->at.file));
        e->at.size = ftello(e->file);
    }
    const struct slice text = progress_text(e, &w);
    const int fd =
        openat(e->descriptor, NEW_PROGRESS, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    const bool is_written =
        file && fwrite(text.p, 1, text.n, file) == text.n && fflush(file) == 0 && fsync(fd) == 0;
    if (file)
        fclose(file);
    if (goes_on(e) &&
        (!is_written || renameat(e->descriptor, NEW_PROGRESS, e->descriptor, PROGRESS) != 0 ||
         fsync(e->descriptor) != 0))
        refuse(e, "it cannot be written", PROGRESS);
    e->unsaved = 0;
}

static void read_text(struct export *e, struct json object, const char *name, char text[ID_SIZE]) {
    const char *found = json_text(json_get(object, name), &e->kept);
    snprintf(text, ID_SIZE, "%s", found ? found : "");
}

/* Reads what an earlier run has stored. */
static bool read_progress(struct export *e, struct slice text) {
    struct json object;
    struct json_error error;
    char user_id[ID_SIZE];
    if (json_read(&e->kept, text, &object, &error) ||
        !json_integer(json_get(object, "file"), &e->at.file) || e->at.file < 0 ||
        !json_integer(json_get(object, "size"), &e->at.size) ||
        !json_integer(json_get(object, "rows"), &e->at.rows) ||
        !json_integer(json_get(object, "number"), &e->at.place.number) ||
        !json_text(json_get(object, "id"), &e->kept))
        return false;
    e->at.place.id = json_text(json_get(object, "id"), &e->kept);
    read_text(e, object, "account", e->at.owners[OWNER_ACCOUNT]);
    read_text(e, object, "line", e->at.owners[OWNER_LINE]);
    read_text(e, object, "thread", e->at.owners[OWNER_THREAD]);
    read_text(e, object, "after", e->at.after);
    read_text(e, object, "user", user_id);
    return strcmp(user_id, e->user_id) == 0;
}

/* Whether the directory has nothing but what a run has left that ended before its first file. */
static bool is_new(struct export *e) {
    static const char *const expected[] = {".", "..", NEW_PROGRESS};
    DIR *entries = opendir(e->directory);
    struct dirent *entry;
    bool is_expected = entries != NULL;
    while (is_expected && (entry = readdir(entries))) {
        is_expected = false;
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
            is_expected = is_expected || strcmp(entry->d_name, expected[i]) == 0;
    }
    if (entries)
        closedir(entries);
    return is_expected;
}

/* Finds where to go on, or that the directory is new. */
static void find_progress(struct export *e) {
    char text[4096];
    const int fd = openat(e->descriptor, PROGRESS, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    e->at.place = (struct list_key){INT64_MIN, ""};
    if (n < 0 && is_new(e))
        save(e); /* from here on the directory is that of this export */
    else if (n < 0)
        e->problem = arena_printf(&e->kept,
                                  "%s has other files: name a new directory, or that of an export "
                                  "of this user that broke off",
                                  e->directory);
    else if (!read_progress(e, (struct slice){text, (size_t)n}))
        e->problem = arena_printf(&e->kept, "%s/" PROGRESS " is not of an export of this user",
                                  e->directory);
    else if (e->at.file >= FILES)
        e->problem =
            arena_printf(&e->kept, "%s has a complete export: name a new directory", e->directory);
}

/* --- rows --- */

/* Begins the rows of an owner: false if an earlier run has ended them. The owners of each kind come
 * in the order of their ids. */
static bool enter(struct export *e, enum owner owner, const char *id) {
    const int order = strcmp(id, e->at.owners[owner]);
    if (order > 0) {
        snprintf(e->at.owners[owner], ID_SIZE, "%s", id);
        for (int i = (int)owner + 1; i < OWNERS; i++)
            e->at.owners[i][0] = '\0';
        if (owner != OWNER_THREAD)
            e->at.after[0] = '\0';
        e->at.place = (struct list_key){INT64_MIN, ""};
    }
    return order >= 0;
}

/* Ends a line: what breaks it is white space between the tokens of JSON that came from elsewhere.
 */
static struct slice end_line(struct buffer *line) {
    for (size_t i = 0; i < line->n; i++)
        if (line->p[i] == '\n' || line->p[i] == '\r')
            line->p[i] = ' ';
    buffer_add_char(line, '\n');
    return buffer_slice(line);
}

static void write_rows(struct export *e, struct arena *arena, const struct export_rows *rows) {
    for (size_t i = 0; i < rows->count && goes_on(e); i++) {
        struct json_writer w;
        arena_reset(&e->text);
        json_write_start(&w, &e->text);
        json_write_object(&w, NULL);
        export_row_write(&w, arena, rows, i);
        json_write_end(&w);
        const struct slice line = end_line(&w.out);
        if (fwrite(line.p, 1, line.n, e->file) != line.n)
            refuse(e, "it cannot be written", name_of(e, e->at.file));
        e->unsaved += (int64_t)line.n;
        e->at.rows++;
    }
}

/* Reads a page, whose memory lives until the next but one. */
static void read_page(struct export *e, const struct export_list *list, const char *owner_id,
                      struct arena *arena, struct list_key *place, struct export_rows *rows) {
    arena_reset(arena);
    store_hold_view(e->call->store);
    e->result = store_export_page(e->call->store, arena, list, owner_id, NULL, place, rows);
    store_release_view(e->call->store);
}

/* Writes the rows of an owner. */
static void write_list(struct export *e, const char *owner_id) {
    struct export_rows rows = {0};
    for (size_t page = 0; !rows.is_end && goes_on(e); page = !page) {
        read_page(e, files[e->at.file].list, owner_id, &e->pages[page], &e->at.place, &rows);
        if (goes_on(e))
            write_rows(e, &e->pages[page], &rows);
        if (goes_on(e) && e->unsaved >= BYTES_BETWEEN)
            save(e);
    }
}

/* --- owners --- */

/* Calls `each` with the id of each row of the list, in their order. */
static void for_each(struct export *e, const struct export_list *list, const char *owner_id,
                     enum owner owner, void (*each)(struct export *, const char *id)) {
    struct list_key place = {INT64_MIN, ""};
    struct export_rows rows = {0};
    struct arena arenas[2];
    arena_init(&arenas[0], MEMORY, NULL);
    arena_init(&arenas[1], MEMORY, NULL);
    for (size_t page = 0; !rows.is_end && goes_on(e); page = !page) {
        read_page(e, list, owner_id, &arenas[page], &place, &rows);
        for (size_t i = 0; goes_on(e) && i < rows.count; i++) {
            const char *id = export_value_of(&rows, i, "id")->bytes.p;
            if (enter(e, owner, id))
                each(e, id);
        }
    }
    arena_free(&arenas[1]);
    arena_free(&arenas[0]);
}

/* The threads of a line, after those that an earlier run has written. */
static void write_threads(struct export *e, const char *line_id) {
    struct list_key place = {INT64_MIN, arena_copy(&e->kept, slice_of(e->at.after))};
    struct export_rows rows = {0};
    struct arena arenas[2];
    arena_init(&arenas[0], MEMORY, NULL);
    arena_init(&arenas[1], MEMORY, NULL);
    for (size_t page = 0; !rows.is_end && goes_on(e); page = !page) {
        read_page(e, &export_threads, line_id, &arenas[page], &place, &rows);
        for (size_t i = 0; goes_on(e) && i < rows.count; i++) {
            const char *contact_id = export_value_of(&rows, i, "contactId")->bytes.p;
            if (enter(e, OWNER_THREAD, contact_id))
                write_list(e, export_value_of(&rows, i, "id")->bytes.p);
            if (goes_on(e))
                snprintf(e->at.after, ID_SIZE, "%s", contact_id);
        }
    }
    arena_free(&arenas[1]);
    arena_free(&arenas[0]);
}

static void write_lines(struct export *e, const char *account_id) {
    for_each(e, &export_lines, account_id, OWNER_LINE, write_threads);
}

/* --- files --- */

static void open_file(struct export *e) {
    const char *name = name_of(e, e->at.file);
    const int fd = openat(e->descriptor, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct stat found;
    e->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!e->file || fstat(fd, &found) != 0)
        refuse(e, "it cannot be opened", name);
    else if (found.st_size < e->at.size)
        e->problem = arena_printf(&e->kept, "%s/%s is shorter than it was", e->directory, name);
    else if (ftruncate(fd, e->at.size) != 0 || fseeko(e->file, e->at.size, SEEK_SET) != 0)
        refuse(e, "it cannot be cut", name);
}

static void write_file(struct export *e) {
    const enum owner owner = files[e->at.file].owner;
    open_file(e);
    if (goes_on(e) && owner == OWNER_USER)
        write_list(e, e->user_id);
    else if (goes_on(e))
        for_each(e, &export_accounts, e->user_id, OWNER_ACCOUNT,
                 owner == OWNER_ACCOUNT ? write_list : write_lines);
    if (goes_on(e))
        save(e);
    if (e->file && fclose(e->file) != 0)
        refuse(e, "it cannot be written", name_of(e, e->at.file));
    e->file = NULL;
}

static void write_files(struct export *e) {
    while (goes_on(e) && e->at.file < FILES) {
        write_file(e);
        if (!goes_on(e))
            return;
        e->at =
            (struct progress){.file = e->at.file + 1, .rows = e->at.rows, .place = {INT64_MIN, ""}};
        save(e);
    }
}

static void open_directory(struct export *e) {
    if (mkdir(e->directory, 0700) != 0 && errno != EEXIST)
        refuse(e, "it cannot be made", "");
    e->descriptor = open(e->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (e->descriptor < 0)
        refuse(e, "it cannot be opened", "");
}

static int run_export(struct export *e) {
    open_directory(e);
    if (goes_on(e))
        find_progress(e);
    if (goes_on(e))
        e->result = store_leave_trail(e->call->store, e->user_id, NULL);
    if (goes_on(e))
        write_files(e);
    if (e->descriptor >= 0)
        close(e->descriptor);
    if (e->problem)
        return fail("%s", e->problem);
    if (e->result != STORE_OK)
        return fail_store(e->call, e->result);
    struct json_writer json = object_start(e->call);
    json_write_text(&json, "directory", e->directory);
    json_write_integer(&json, "rows", e->at.rows);
    return object_print(e->call, &json, "%s: %lld rows in %d files", e->directory,
                        (long long)e->at.rows, (int)FILES);
}

int user_export(struct invocation *call) {
    const char *email = call->operands[0];
    char user_id[ID_SIZE];
    struct export e = {.call = call, .directory = call->operands[1], .user_id = user_id};
    enum store_result result = store_find_user(call->store, email, user_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    struct arena *const arenas[] = {&e.kept, &e.pages[0], &e.pages[1], &e.text};
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++)
        arena_init(arenas[i], MEMORY, NULL);
    const int code = run_export(&e);
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++)
        arena_free(arenas[i]);
    return code;
}
