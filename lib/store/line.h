/* The lines of accounts (spec 2.2). */
#ifndef SWITCHBOARD_STORE_LINE_H
#define SWITCHBOARD_STORE_LINE_H

#include "store/store.h"

struct line {
    const char *id, *account_id, *phone_number_id, *phone_number;
    const char *name, *platform_type; /* NULL: none */
    bool is_registered, is_coexisting;
    int64_t send_rate; /* queued messages a second; 0: the default (sending/pace.h) */
    bool is_primary;   /* the user's primary line; not set by store_find_line */
    int64_t created_at;
    int64_t archived_at;          /* INT64_MAX: not archived */
    struct store_account account; /* store_find_line only */
};

/* What a list of lines contains; NULL: any. */
struct line_filter {
    const struct store_view *view;
    const char *account_id;
    bool is_without_archived;
};

/* Lists the lines in the order of their creation. */
enum store_result store_list_lines(struct store *store, struct arena *arena,
                                   const struct line_filter *filter, struct line **lines,
                                   size_t *count);

/* Finds the line of the view with this platform id, with `user_id` NULL of any user, and its
 * account. STORE_NOT_FOUND: none, or it is archived. */
enum store_result store_find_line(struct store *store, struct arena *arena,
                                  const struct store_view *view, const char *phone_number_id,
                                  struct line *line);

/* Finds the line of the view with this id, archived or not, or STORE_NOT_FOUND. */
enum store_result store_find_line_by_id(struct store *store, struct arena *arena,
                                        const struct store_view *view, const char *line_id,
                                        struct line *line);

/* What changes; the members that are false leave the line as it is. */
struct line_change {
    bool sets_name;
    const char *name; /* NULL: none */
    bool makes_primary, archives, restores;
    int64_t now;
};

/* Changes the user's line. A line that is archived already keeps its time. STORE_NOT_FOUND: no such
 * line. STORE_CONFLICT: the line would be primary and archived; nothing is changed. */
enum store_result store_change_line(struct store *store, const char *user_id, const char *line_id,
                                    const struct line_change *change);

/* --- internal to the store --- */

/* SQL: the columns of a line `l`, which the layout reads. */
#define LINE_COLUMNS                                                                               \
    "l.id, l.account_id, l.phone_number_id, l.phone_number, l.name, l.platform_type, "             \
    "l.is_registered, l.is_coexisting, l.created_at, l.archived_at, "                              \
    "coalesce(l.send_rate, 0)"
extern const struct row_layout line_layout;

#endif
