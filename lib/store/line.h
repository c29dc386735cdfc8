/* Lines as their owner lists and changes them (spec 2.2). */
#ifndef SWITCHBOARD_STORE_LINE_H
#define SWITCHBOARD_STORE_LINE_H

#include "store/store.h"

struct owned_line {
    const char *id, *account_id, *phone_number_id, *phone_number;
    const char *name, *platform_type; /* NULL: none */
    bool is_registered, is_coexisting, is_primary;
    int64_t created_at;
    int64_t archived_at; /* INT64_MIN: not archived */
};

/* Lists the user's lines, archived ones too, in the order of their creation. */
enum store_result store_list_owned_lines(struct store *store, struct arena *arena,
                                         const char *user_id, struct owned_line **lines,
                                         size_t *count);

/* Finds the user's line with this id, or STORE_NOT_FOUND. */
enum store_result store_find_owned_line(struct store *store, struct arena *arena,
                                        const char *user_id, const char *line_id,
                                        struct owned_line *line);

/* Whether the user has the line with this id, archived or not: STORE_OK or STORE_NOT_FOUND. */
enum store_result store_has_line(struct store *store, const char *user_id, const char *line_id);

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

#endif
