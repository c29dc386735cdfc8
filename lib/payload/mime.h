/* MIME types of media: parsing them (RFC 2045 5.1), and their file extensions.
 * Types are in lower case and without parameters: the platform accepts no other form. */
#ifndef SWITCHBOARD_MIME_H
#define SWITCHBOARD_MIME_H

#include "base/arena.h"

/* Returns the type in `text`, the value of a Content-Type: without parameters, in lower case, in
 * `arena`. NULL when it is not of the form type/subtype, or `text` is NULL. */
const char *mime_read(struct arena *arena, const char *text);

/* Whether the type says nothing about the content. The type of forms is one of these, since curl
 * and other clients send it by default for every body. */
bool mime_is_generic(const char *type);

/* Returns the file extension of the type, with its dot; "" when it is not known. */
const char *mime_extension(const char *type);

/* Returns the type for the extension of a file name; NULL when it is not known. */
const char *mime_of_name(const char *name);

#endif
