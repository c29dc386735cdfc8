/* Cursors of lists: opaque texts that hold the sort key of a row (base64url, RFC 4648 5). */
#ifndef SWITCHBOARD_API_LIST_CURSOR_H
#define SWITCHBOARD_API_LIST_CURSOR_H

#include "web/request.h"

enum { CURSOR_PARTS = 5 };

/* Encode and decode a sort key (base64url without padding). Decoding returns p == NULL, or no
 * bytes, when the text is none. */
char *cursor_encode(struct arena *arena, struct slice plain);
struct slice cursor_decode(struct arena *arena, struct slice text);

/* Returns a cursor of the parts, at most CURSOR_PARTS texts without line breaks; the first one
 * names the list, so that no list accepts the cursor of another one. */
const char *cursor_write(struct arena *arena, const char *const *parts, size_t count);

/* Reads the query parameter `name`, a cursor of `count` parts whose first one is `list`. Returns 1
 * and the parts; 0 without the parameter; -1 after failing the request with 400. */
int cursor_read(struct request *rq, const char *name, const char *list, const char **parts,
                size_t count);

/* The same for a list ordered by a number and an id, whose cursor has the parts list, number, id.
 */
const char *cursor_write_key(struct arena *arena, const char *list, int64_t number, const char *id);
int cursor_read_key(struct request *rq, const char *name, const char *list, int64_t *number,
                    const char **id);

/* Fails the request with 400: the parameter is no cursor of this list. Returns -1. */
int cursor_fail(struct request *rq, const char *name);

#endif
