/* What commands print: tables for people, JSON for programs. */
#ifndef SWITCHBOARD_ADMIN_OUTPUT_H
#define SWITCHBOARD_ADMIN_OUTPUT_H

#include "base/json.h"

/* A table that is aligned when it is printed. */
struct table {
    struct arena *arena;
    size_t columns;
    struct buffer cells; /* of const char * */
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
