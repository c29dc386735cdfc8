/* The rows of an export (store/export.h) in JSON; and what is held of a person as one document,
 * written piece by piece: of an API answer, and of the CLI. */
#ifndef SWITCHBOARD_EXPORT_JSON_H
#define SWITCHBOARD_EXPORT_JSON_H

#include "base/json.h"
#include "store/export.h"
#include "store/media_copy.h"

/* The file of a message. */
struct export_file {
    struct store_media_copy copy; /* what the archive has; sha256 NULL: nothing */
    const char *name;             /* under which it may be written; NULL: it is missing */
    const char *cause;            /* why it is missing */
};

/* Takes the files of the messages that are exported. */
struct export_files {
    /* Writes the file, unless it is missing. Where that cannot be done it sets `cause`. */
    void (*write)(void *context, struct export_file *file);
    void *context;
};

/* The value of a row in the column with this name; NULL: there is no such column. */
const struct export_value *export_value_of(const struct export_rows *rows, size_t row,
                                           const char *name);

/* Writes the members of a row, with its parts, into the open object, and the file of a message to
 * `files`; NULL: it is only named. `arena` is for the call alone. */
void export_row_write(struct json_writer *w, struct arena *arena, const struct export_rows *rows,
                      size_t row, const struct export_files *files);

/* Takes the next bytes of the document. False: it takes no more. */
struct export_sink {
    bool (*write)(void *context, struct slice bytes);
    void *context;
    const struct export_files *files; /* NULL: files of messages are only named */
};

/* Writes the document of the person. `now`: ms. What it needs beside a page of rows does not grow
 * with the number of messages. No view is held while the sink writes. STORE_NOT_FOUND: the contact
 * was erased or merged meanwhile. Unless the result is STORE_OK, the document ends within itself,
 * and is no valid JSON; so it does after the sink has taken no more. */
enum store_result export_write_contact(struct store *store, const struct store_export *export,
                                       int64_t now, const struct export_sink *sink);

#endif
