/* The output of commands: a table or a line of text, or JSON with --json. */
#ifndef SWITCHBOARD_ADMIN_OUTPUT_H
#define SWITCHBOARD_ADMIN_OUTPUT_H

#include "base/json.h"
#include "store/listing.h"

/* A table, whose columns are aligned when it is printed. */
struct table {
    struct arena *arena;
    size_t columns;
    struct buffer cells; /* of const char * */
    size_t *widths;      /* least width of each column, updated by table_print; NULL: no minimum */
};

/* Starts a table whose first row is the `titles`; NULL: no titles. */
struct table table_start(struct arena *arena, size_t columns, const char *const *titles);
#define TABLE(arena, ...)                                                                          \
    table_start(arena, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),          \
                (const char *const[]){__VA_ARGS__})

/* Adds the next cell, left to right, top to bottom; NULL or "" is shown as `-`. What would move a
 * terminal's cursor is shown as `?` (utf8_show). */
void table_cell(struct table *table, const char *text);

void table_print(const struct table *table);

struct invocation;

/* A command that lists rows fills both a JSON writer inside an open array and a table. list_print
 * prints the one that --json selects, and returns EXIT_DONE. */
struct json_writer list_start(struct invocation *call);
int list_print(struct invocation *call, struct json_writer *json, const struct table *table);

/* A list of any length: the rows that --limit and --after select. It is printed a page at a time,
 * so that only one page is in memory. A column is as wide as its widest cell so far.
 *
 *     struct list list;
 *     list_open(&list, call, COUNT, titles);
 *     while (list_next(&list)) {
 *         ... read the page list.page into list.arena; on failure list_abandon and return ...
 *         ... fill list.json and list.table with its rows ...
 *         list_print_page(&list, count, id of the last row);
 *     }
 *     return list_close(&list);
 */
enum { LIST_COLUMNS = 16 };

struct list {
    struct invocation *call;
    struct arena arena;     /* of one page */
    struct store_page page; /* to read next */
    struct json_writer json;
    struct table table;
    const char *const *titles;
    size_t columns, widths[LIST_COLUMNS];
    size_t left;     /* rows that may still be printed */
    char after[160]; /* the id of the row printed last */
    bool has_begun, is_over;
};

void list_open(struct list *list, struct invocation *call, size_t columns,
               const char *const *titles);
#define LIST_OPEN(list, call, ...)                                                                 \
    list_open(list, call, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),       \
              (const char *const[]){__VA_ARGS__})

/* Begins the next page; returns false after the last one. */
bool list_next(struct list *list);

/* Prints the page of `count` rows; `last_id` is the id of the last one, NULL if there is none. */
void list_print_page(struct list *list, size_t count, const char *last_id);

/* Ends the output and frees the memory. Returns EXIT_DONE. */
int list_close(struct list *list);

/* Frees the memory when a page could not be read. */
void list_abandon(struct list *list);

/* A command with one result fills a JSON writer inside an open object. object_print prints it with
 * --json, else the line of text, and returns EXIT_DONE. */
struct json_writer object_start(struct invocation *call);
int object_print(struct invocation *call, struct json_writer *json, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The time in ISO 8601, in the arena; NULL for INT64_MAX. `ms` is Unix time. */
const char *time_text(struct arena *arena, int64_t ms);

#endif
