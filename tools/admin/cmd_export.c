/* switchboard contact export: all that is held of a person as one JSON document.
 *
 * switchboard user export: all that is held for a user, one file of JSON lines for each kind of
 * rows. After some megabytes, and with each file, the bytes are synchronized and progress.json says
 * how far the export has come: a later run with the same directory cuts the file there and goes on.
 *
 * Both write the files of messages, too, into the directory of --media. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/media_export.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/export_user.h"
#include "store/admin.h"

/* --- files of messages --- */

/* The directory of --media, and what was written there. */
struct media {
    struct media_export export;
    struct export_files files;
    char path[PATH_MAX]; /* of the directory, absolute; "": no files are to be written */
    int64_t written, missing;
};

/* Writes a file, or prints why it is missing. */
static void write_media(void *context, struct export_file *file) {
    struct media *media = context;
    if (file->name && !media->export.error)
        file->cause = media_export_write(&media->export, &file->copy, file->name);
    media->written += !file->cause && !media->export.error;
    media->missing += file->cause != NULL;
    if (file->cause)
        warn("%s: the file %s is missing: %s", file->copy.message_id, file->copy.media_id,
             file->cause);
}

/* Opens the directory that the call names, if it names one. Returns an exit code. */
static int open_media(struct media *media, struct invocation *call) {
    const char *archive = call->config.media_archive, *directory = call->options[OPTION_MEDIA];
    *media = (struct media){.files = {write_media, media}};
    if (!directory)
        return EXIT_DONE;
    if (!*archive)
        return fail("media_archive is not set: no file was copied");
    if (media_export_open(&media->export, archive, directory) && realpath(directory, media->path))
        return EXIT_DONE;
    const int error = media->export.error ? media->export.error : errno;
    media_export_close(&media->export);
    media->path[0] = '\0';
    return fail("%s: %s", directory, strerror(error));
}

static const struct export_files *files_of(const struct media *media) {
    return *media->path ? &media->files : NULL;
}

static void close_media(struct media *media) {
    if (*media->path)
        media_export_close(&media->export);
}

/* --- a person --- */

/* Prints the next bytes; false: they or a file could not be written. */
static bool print_bytes(void *context, struct slice bytes) {
    const struct media *media = context;
    return !media->export.error && fwrite(bytes.p, 1, bytes.n, stdout) == bytes.n;
}

static int print_person(struct invocation *call, struct media *media) {
    const char *id = call->operands[0];
    const struct export_sink sink = {print_bytes, media, files_of(media)};
    struct store_export export;
    enum store_result result = store_find_export(call->store, &call->arena, NULL, id, &export);
    if (result == STORE_OK)
        result = store_leave_trail(call->store, export.user_id, export.contact_id);
    if (result == STORE_OK)
        result = export_write_contact(call->store, &export, call->now, &sink);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_CONTACT, id);
    if (media->export.error)
        return fail("%s: %s", media->path, strerror(media->export.error));
    putchar('\n');
    return fflush(stdout) == 0 && !ferror(stdout)
               ? EXIT_DONE
               : fail("the output is incomplete: %s", strerror(errno));
}

int contact_export(struct invocation *call) {
    struct media media;
    int code = open_media(&media, call);
    if (code == EXIT_DONE)
        code = print_person(call, &media);
    close_media(&media);
    return code;
}

/* --- a user --- */

enum {
    BYTES_BETWEEN = 4 * 1024 * 1024, /* after which the progress is stored */
    MEMORY = 64 * 1024 * 1024,       /* of names, and of what is to be stored */
};

/* How far an export has come, beside the place of its rows. */
struct progress {
    int64_t file, size, rows; /* the file, its bytes; the rows of all files */
};

struct export {
    struct invocation *call;
    const char *directory;
    int descriptor;  /* of the directory */
    FILE *file;      /* that is being written */
    int64_t unsaved; /* bytes */
    struct progress at;
    struct media media;
    const char *media_before; /* the directory of an earlier run; NULL: none */
    struct export_user rows;
    struct arena kept, text;
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
    return arena_printf(&e->kept, "%s.jsonl", export_user_parts[file].list->name);
}

/* --- progress.json --- */

#define PROGRESS     "progress.json"
#define NEW_PROGRESS "progress.new"

static struct slice progress_text(struct export *e, struct json_writer *w) {
    static const char *const names[] = {"account", "line", "thread"};
    json_write_start(w, &e->text);
    json_write_object(w, NULL);
    json_write_text(w, "user", e->rows.user_id);
    json_write_bool(w, "isComplete", e->at.file == (int64_t)export_user_count);
    json_write_integer(w, "file", e->at.file);
    json_write_integer(w, "size", e->at.size);
    json_write_integer(w, "rows", e->at.rows);
    json_write_text(w, "media", *e->media.path ? e->media.path : NULL);
    json_write_integer(w, "mediaFiles", e->media.written);
    json_write_integer(w, "missingMediaFiles", e->media.missing);
    for (int i = 0; i < EXPORT_OWNERS; i++)
        json_write_text(w, names[i], e->rows.place.owners[i]);
    json_write_text(w, "after", e->rows.place.after);
    json_write_integer(w, "number", e->rows.place.row.number);
    json_write_text(w, "id", e->rows.place.row.id);
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
        !json_integer(json_get(object, "number"), &e->rows.place.row.number) ||
        !json_text(json_get(object, "id"), &e->kept))
        return false;
    json_integer(json_get(object, "mediaFiles"), &e->media.written);
    json_integer(json_get(object, "missingMediaFiles"), &e->media.missing);
    e->media_before = json_text(json_get(object, "media"), &e->kept);
    e->rows.place.row.id = json_text(json_get(object, "id"), &e->kept);
    read_text(e, object, "account", e->rows.place.owners[EXPORT_OF_ACCOUNT]);
    read_text(e, object, "line", e->rows.place.owners[EXPORT_OF_LINE]);
    read_text(e, object, "thread", e->rows.place.owners[EXPORT_OF_THREAD]);
    read_text(e, object, "after", e->rows.place.after);
    read_text(e, object, "user", user_id);
    return strcmp(user_id, e->rows.user_id) == 0;
}

/* Whether an earlier run has written the files of messages to the same directory. */
static bool has_same_media(const struct export *e) {
    return strcmp(e->media_before ? e->media_before : "", e->media.path) == 0;
}

/* Whether the entry is the directory of the files of messages. */
static bool is_media(const struct export *e, const struct dirent *entry) {
    struct stat found;
    return *e->media.path && fstat(e->media.export.directory, &found) == 0 &&
           found.st_ino == entry->d_ino;
}

/* Whether the directory has nothing but what a run has left that ended before its first file. */
static bool is_new(struct export *e) {
    static const char *const expected[] = {".", "..", NEW_PROGRESS};
    DIR *entries = opendir(e->directory);
    struct dirent *entry;
    bool is_expected = entries != NULL;
    while (is_expected && (entry = readdir(entries))) {
        is_expected = is_media(e, entry);
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
            is_expected = is_expected || strcmp(entry->d_name, expected[i]) == 0;
    }
    if (entries)
        closedir(entries);
    return is_expected;
}

/* Finds where to go on, or that the directory is new. */
static void find_progress(struct export *e) {
    char text[16 * 1024];
    const int fd = openat(e->descriptor, PROGRESS, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
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
    else if (e->at.file >= (int64_t)export_user_count)
        e->problem =
            arena_printf(&e->kept, "%s has a complete export: name a new directory", e->directory);
    else if (!has_same_media(e))
        e->problem = e->media_before ? arena_printf(&e->kept, "%s is of an export with --media %s",
                                                    e->directory, e->media_before)
                                     : arena_printf(&e->kept, "%s is of an export without --media",
                                                    e->directory);
}

/* --- rows --- */

/* Adds a line: what breaks it is white space between the tokens of JSON that came from elsewhere.
 */
static bool add_row(void *context, struct slice json) {
    struct export *e = context;
    for (size_t i = 0; i < json.n; i++)
        if (putc(json.p[i] == '\n' || json.p[i] == '\r' ? ' ' : json.p[i], e->file) == EOF)
            break;
    if (putc('\n', e->file) == EOF)
        refuse(e, "it cannot be written", name_of(e, e->at.file));
    if (e->media.export.error)
        e->problem = arena_printf(&e->kept, "%s: it cannot be written: %s", e->media.path,
                                  strerror(e->media.export.error));
    e->unsaved += (int64_t)json.n + 1;
    e->at.rows++;
    return goes_on(e);
}

static bool end_page(void *context) {
    struct export *e = context;
    if (e->unsaved >= BYTES_BETWEEN)
        save(e);
    return goes_on(e);
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
    open_file(e);
    if (goes_on(e))
        e->result = export_user_write(&e->rows, &export_user_parts[e->at.file]);
    if (goes_on(e))
        save(e);
    if (e->file && fclose(e->file) != 0)
        refuse(e, "it cannot be written", name_of(e, e->at.file));
    e->file = NULL;
}

static void write_files(struct export *e) {
    while (goes_on(e) && e->at.file < (int64_t)export_user_count) {
        write_file(e);
        if (!goes_on(e))
            return;
        e->at = (struct progress){.file = e->at.file + 1, .rows = e->at.rows};
        e->rows.place = export_user_first();
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

static int print_end(struct export *e) {
    const struct media *media = &e->media;
    const char *files = "";
    struct json_writer json = object_start(e->call);
    json_write_text(&json, "directory", e->directory);
    json_write_integer(&json, "rows", e->at.rows);
    if (*media->path) {
        json_write_integer(&json, "mediaFiles", media->written);
        json_write_integer(&json, "missingMediaFiles", media->missing);
        files =
            arena_printf(&e->kept, "; the files of %lld messages, those of %lld more are missing",
                         (long long)media->written, (long long)media->missing);
    }
    return object_print(e->call, &json, "%s: %lld rows in %d files%s", e->directory,
                        (long long)e->at.rows, (int)export_user_count, files);
}

static int run_export(struct export *e) {
    if (goes_on(e))
        find_progress(e);
    if (goes_on(e))
        e->result = store_leave_trail(e->call->store, e->rows.user_id, NULL);
    if (goes_on(e))
        write_files(e);
    if (e->problem)
        return fail("%s", e->problem);
    return e->result == STORE_OK ? print_end(e) : fail_store(e->call, e->result);
}

/* The directory of the files may be in that of the rows. */
static int open_and_run(struct export *e) {
    open_directory(e);
    int code = goes_on(e) ? open_media(&e->media, e->call) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = run_export(e);
    close_media(&e->media);
    if (e->descriptor >= 0)
        close(e->descriptor);
    return code;
}

int user_export(struct invocation *call) {
    const char *email = call->operands[0];
    char user_id[ID_SIZE];
    struct export e = {.call = call, .directory = call->operands[1]};
    const struct export_user_sink sink = {add_row, end_page, &e,
                                          call->options[OPTION_MEDIA] ? &e.media.files : NULL};
    enum store_result result = store_find_user(call->store, email, user_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    arena_init(&e.kept, MEMORY, NULL);
    arena_init(&e.text, MEMORY, NULL);
    export_user_start(&e.rows, call->store, user_id, &sink);
    const int code = open_and_run(&e);
    export_user_end(&e.rows);
    arena_free(&e.text);
    arena_free(&e.kept);
    return code;
}
