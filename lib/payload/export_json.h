/* What is held of a person as one JSON document, written piece by piece: of an API answer, and of
 * the CLI. */
#ifndef SWITCHBOARD_EXPORT_JSON_H
#define SWITCHBOARD_EXPORT_JSON_H

#include "base/slice.h"
#include "payload/export_row.h"

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
