/* Internal to the store: rows that are read into structs. A layout lists members of a struct in the
 * order of the columns of a statement. */
#ifndef SWITCHBOARD_ENGINE_ROW_H
#define SWITCHBOARD_ENGINE_ROW_H

#include <stddef.h>

#include "engine/sql.h"

struct row_member {
    enum row_kind { ROW_TEXT, ROW_ID, ROW_BLOB, ROW_INTEGER, ROW_INT, ROW_BOOL, ROW_TIME } kind;
    size_t offset;
};

struct row_layout {
    size_t size; /* of the struct */
    int count;   /* of its members */
    const struct row_member *members;
};

#define ROW_LAYOUT(type, ...)                                                                      \
    {                                                                                              \
        sizeof(type),                                                                              \
            sizeof((const struct row_member[]){__VA_ARGS__}) / sizeof(struct row_member),          \
            (const struct row_member[]) {                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* How a column is read into a member, which its type says. */
#define ROW_KIND(pointer)                                                                          \
    _Generic(pointer, const char **                                                                \
             : ROW_TEXT, char(*)[ID_SIZE]                                                          \
             : ROW_ID, struct slice *                                                              \
             : ROW_BLOB, int64_t *                                                                 \
             : ROW_INTEGER, int *                                                                  \
             : ROW_INT, bool *                                                                     \
             : ROW_BOOL)

/* A member of a layout: an integer, which is 0 for NULL, or another kind; a time, which is
 * INT64_MAX for NULL. */
#define ROW_MEMBER(type, member)                                                                   \
    { ROW_KIND(&((type *)0)->member), offsetof(type, member) }
#define ROW_TIME_MEMBER(type, member)                                                              \
    { _Generic(&((type *)0)->member, int64_t * : ROW_TIME), offsetof(type, member) }

/* Reads columns of the current row, from `first` on; the other members stay as they are. A layout
 * without texts and bytes needs no arena, here and below. */
void row_read(struct statement *s, int first, struct arena *arena, const struct row_layout *layout,
              void *row);

/* Reads the only row of a statement that was started, or the first one; with row_find the other
 * members are 0 then, with row_fill they stay as they are. False: there is none, or on failure. */
bool row_find(struct store *store, struct statement *s, struct arena *arena,
              const struct row_layout *layout, void *row);
bool row_fill(struct store *store, struct statement *s, struct arena *arena,
              const struct row_layout *layout, void *row);

/* Adds all rows to a buffer of such structs; or returns an array of them, in `arena`, and sets
 * their count. sql_failed shows whether all were read. */
void row_add(struct store *store, struct statement *s, struct arena *arena,
             const struct row_layout *layout, struct buffer *rows);
void *row_list(struct store *store, struct statement *s, struct arena *arena,
               const struct row_layout *layout, size_t *count);

/* Copies the texts and bytes of a struct into the arena: it refers to the copies then. */
void row_copy(struct arena *arena, const struct row_layout *layout, void *row);

/* Whether a statement that was started has a row. False on failure too. */
bool row_exists(struct store *store, struct statement *s);

/* Returns the first column of the only row; `none`: it is NULL, there is no row, or on failure. */
int64_t row_integer(struct store *store, struct statement *s, int64_t none);

/* Returns the first column of the only row, in `arena`; NULL: there is no row, or on failure. */
const char *row_text(struct store *store, struct statement *s, struct arena *arena);

/* Runs a statement without rows. Whether it has changed any; false on failure too. */
#define row_write(store, statement, ...)                                                           \
    (sql_run(store, statement, __VA_ARGS__) && sql_changes(store) > 0)

/* As sql_found; STORE_CONFLICT: the row was found, and what it is does not allow the call. */
enum store_result row_allowed(struct store *store, bool found, bool is_allowed);

#endif
