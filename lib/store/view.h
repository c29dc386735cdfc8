/* What a reader sees of a user: all of it, or only what belongs to some of the lines. */
#ifndef SWITCHBOARD_STORE_VIEW_H
#define SWITCHBOARD_STORE_VIEW_H

#include <stdbool.h>

#include "base/slice.h"

/* Calls that read for a caller take this instead of a user id, so that none forgets the limit. */
struct store_view {
    const char *user_id;  /* NULL, where a call allows it: any user */
    const char *line_ids; /* lin_..., separated by spaces; NULL: all lines */
    const char *own_id;   /* a member: only threads that are assigned to it or to none; NULL: all */
};

/* The view of a user without limits; it lives as long as the enclosing block. */
#define WHOLE_VIEW(id) (&(const struct store_view){.user_id = (id)})

/* Whether nothing of the user is outside of the view. */
static inline bool view_is_whole(const struct store_view *view) {
    return !view->line_ids && !view->own_id;
}

/* Whether the view has a thread with this assignee; NULL: assigned to none. */
static inline bool view_has_assignee(const struct store_view *view, const char *assignee_id) {
    return !view->own_id || !assignee_id ||
           slice_equal(slice_of(view->own_id), slice_of(assignee_id));
}

/* Whether the view has this line of the user. */
static inline bool view_has_line(const struct store_view *view, const char *line_id) {
    return !view->line_ids || slice_has_word(slice_of(view->line_ids), ' ', slice_of(line_id));
}

/* Whether a list of lines has none that is not in the other one, both as in the view. */
static inline bool lines_are_within(const char *line_ids, const char *all) {
    struct slice rest = slice_of(line_ids);
    while (all && rest.n)
        if (!slice_has_word(slice_of(all), ' ', slice_cut(&rest, ' ')))
            return false;
    return !all || line_ids;
}

/* SQL: whether a column with the id of a line is one of the words of the parameter. */
#define IS_ONE_OF(column, parameter) "replace(" parameter ", " column ", '') <> " parameter

/* SQL: whether a view with the parameters line_ids and own_id has threads of a line, threads of an
 * assignee, and a thread with both. */
#define HAS_LINE(line_ids, line) "(" IS_ONE_OF(line, line_ids) " OR " line_ids " IS NULL)"
#define HAS_ASSIGNEE(own, assignee)                                                                \
    "(" assignee " = " own " OR " assignee " IS NULL OR " own " IS NULL)"
#define IN_VIEW(line_ids, line, own, assignee)                                                     \
    HAS_LINE(line_ids, line) " AND " HAS_ASSIGNEE(own, assignee)

#endif
