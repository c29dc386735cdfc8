/* MIME types of media: reading them (RFC 2045 5.1), finding them, and the extensions that go with
 * them. A type is written in lower case and without parameters: the platform takes no other. */
#ifndef SWITCHBOARD_MIME_H
#define SWITCHBOARD_MIME_H

#include "base/arena.h"

/* The type that `text`, a Content-Type's value, names: without parameters, in lower case. NULL when
 * it is not of the form type/subtype; NULL for NULL. */
const char *mime_read(struct arena *arena, const char *text);

/* Whether the type says nothing of the content. The type of forms is among them: some clients, curl
 * one of them, send it for any body whose type they were not told. */
bool mime_is_generic(const char *type);

/* The extension of files of this type with its dot, or "" when it is not known. */
const char *mime_extension(const char *type);

/* The type that the extension of the file name stands for; NULL when it is not known. */
const char *mime_of_name(const char *name);

/* How many bytes of a file mime_detect wants to see, if there are so many. */
enum { MIME_DETECT_SIZE = 64 * 1024 };

/* The type of a file that begins with `head`, by libmagic; where its content alone does not tell
 * (a .docx is a zip archive), by the extension of `name`, too. application/octet-stream when
 * nothing is found. Costs some 15 ms, in a process of its own: what is looked at may be hostile,
 * and libmagic's tables are large. */
const char *mime_detect(struct arena *arena, struct slice head, const char *name);

#endif
