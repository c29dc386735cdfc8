/* Pages of lists that this gateway stores, and their cursors: opaque texts that hold the sort key
 * of a row (base64url without padding, RFC 4648 5). */
#ifndef SWITCHBOARD_API_PAGING_H
#define SWITCHBOARD_API_PAGING_H

#include "store/listing.h"
#include "web/request.h"

enum { PAGING_MOST = 100, PAGING_PRESET = 25 }; /* rows of a page */

/* The fields of a list, for the query table of a route. */
#define PAGING_FIELDS                                                                              \
    {.name = "limit", .type = FIELD_INTEGER, .min = 1, .max = PAGING_MOST}, {                      \
        .name = "after", .type = FIELD_STRING                                                      \
    }

/* Returns the query's `limit`, which the field table has checked; PAGING_PRESET without one. */
size_t paging_limit(const struct request *rq);

/* Reads the query's `after`: `*after` is the text of the cursor, NULL without one. It consists of
 * letters, digits and `_`, begins with `prefix`, and fits into ID_SIZE bytes with its NUL. Returns
 * 0, or -1 after failing the request with 400 because the cursor is none of this list. */
int paging_after(struct request *rq, const char *prefix, const char **after);

/* Reads the page of the query, and asks for one row more than it has, which shows whether others
 * follow. Returns as paging_after. */
int paging_page(struct request *rq, const char *prefix, struct store_page *page);

/* Takes the row more from the `*count` rows that were found so. Returns whether there was one. */
bool paging_has_more(const struct request *rq, size_t *count);

/* Fails the request with 400 because `after` is no cursor of the list. Returns -1. */
int paging_fail(struct request *rq);

/* Begins the answer of a list: after it the caller writes the rows, the elements of `items`. */
void paging_start(struct request *rq, struct json_writer *out);

/* Ends `items`, which paging_start or the caller began, and answers with the list; a next page
 * begins behind the row with the id `last`, NULL: this page is the last one. Returns what
 * reply_data returns. */
int paging_reply(struct request *rq, struct json_writer *out, const char *last);

/* The same with the whole cursor of the next page. */
int paging_reply_cursor(struct request *rq, struct json_writer *out, const char *after);

/* Writes the member `paging`, which every list of this gateway has, with the cursor `after`; NULL:
 * the page is the last one. */
void paging_write_cursor(struct json_writer *out, const char *after);

/* --- lists that are not ordered by the id alone --- */

enum { CURSOR_PARTS = 5 };

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
/* Adds the next rows of a list to `lines`, as CSV. Memory of `lines` is that of one page. `*more`:
 * others may follow; it is true before. */
typedef enum store_result paging_csv_page(struct request *rq, void *list, struct buffer *lines,
                                          bool *more);

/* Answers with a whole list as the file NAME.csv: the line `head` and all pages. The status is sent
 * before the first page, so a failure becomes the last line. Returns 0, or -1 after failing the
 * request. */
int paging_reply_csv(struct request *rq, const char *name, struct slice head,
                     paging_csv_page *add_page, void *list);

#endif
