/* What a reader sees of a user: all of it, or only what belongs to some of the lines. */
#ifndef SWITCHBOARD_STORE_VIEW_H
#define SWITCHBOARD_STORE_VIEW_H

#include <stdbool.h>

#include "base/slice.h"

/* Calls that read for a caller take this instead of a user id, so that none forgets the limit. */
struct store_view {
    const char *user_id;  /* NULL, where a call allows it: any user */
    const char *line_ids; /* lin_..., separated by spaces; NULL: all lines */
};

/* The view of a user without limits; it lives as long as the enclosing block. */
#define WHOLE_VIEW(id) (&(const struct store_view){.user_id = (id)})

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

#endif
