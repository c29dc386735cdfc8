/* What commands print: tables for people, JSON for programs. */
#ifndef SWITCHBOARD_ADMIN_OUTPUT_H
#define SWITCHBOARD_ADMIN_OUTPUT_H

#include "base/json.h"
#include "store/listing.h"

/* A table that is aligned when it is printed. */
struct table {
    struct arena *arena;
    size_t columns;
    struct buffer cells; /* of const char * */
    size_t *widths; /* at least so wide, and set when it is printed; NULL: of its cells alone */
};

/* A table whose first row is the `titles`; NULL: it has no titles. */
struct table table_start(struct arena *arena, size_t columns, const char *const *titles);
#define TABLE(arena, ...)                                                                          \
    table_start(arena, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),          \
                (const char *const[]){__VA_ARGS__})

/* The next cell, left to right, top to bottom; NULL or "" is shown as `-`. Control characters,
 * which would move a terminal's cursor, are shown as `?`. */
void table_cell(struct table *table, const char *text);

void table_print(const struct table *table);

struct invocation;

/* A command that lists fills both: a writer inside an open array, and a table. list_print prints
 * the one that is wanted and returns EXIT_DONE. */
struct json_writer list_start(struct invocation *call);
int list_print(struct invocation *call, struct json_writer *json, const struct table *table);

/* A listing of any length, printed a page at a time, so that its memory is that of one page: the
 * rows that --limit and --after choose. The table's columns are as wide as the widest cell so far.
 *
 *     struct list list;
 *     list_open(&list, call, COUNT, titles);
 *     while (list_next(&list)) {
 *         ... read the page list.page into list.arena; stop where that fails ...
 *         ... fill list.json and list.table with its rows ...
 *         list_print_page(&list, count, id of the last row);
 *     }
 *     return list_close(&list);
 */
enum { LIST_COLUMNS = 16 };

struct list {
    struct invocation *call;
    struct arena arena;     /* of one page */
    struct store_page page; /* what to read next */
    struct json_writer json;
    struct table table;
    const char *const *titles;
    size_t columns, widths[LIST_COLUMNS];
    size_t left;    /* rows that may still be printed */
    char after[80]; /* the id of the row printed last */
    bool has_begun, is_over;
};

void list_open(struct list *list, struct invocation *call, size_t columns,
               const char *const *titles);
#define LIST_OPEN(list, call, ...)                                                                 \
    list_open(list, call, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),       \
              (const char *const[]){__VA_ARGS__})

/* Begins the next page; false when the last one was printed. */
bool list_next(struct list *list);

/* Prints the page of `count` rows; `last_id` is that of the last one. */
void list_print_page(struct list *list, size_t count, const char *last_id);

/* Ends what was printed. Returns EXIT_DONE. */
int list_close(struct list *list);

/* Gives the memory back where a page could not be read. */
void list_abandon(struct list *list);

/* A command that does one thing: a writer inside an open object, and one line of text. object_print
 * prints the one that is wanted and returns EXIT_DONE. */
struct json_writer object_start(struct invocation *call);
int object_print(struct invocation *call, struct json_writer *json, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ISO 8601; INT64_MAX is NULL. */
const char *time_text(struct arena *arena, int64_t ms);

/* A time that may be INT64_MAX, which is written as null. */
void json_write_time_or_null(struct json_writer *json, const char *name, int64_t ms);

#endif
