/* The lines of a body that a member, an invitation or a token shall have. */
#ifndef SWITCHBOARD_API_TEAM_LINE_CHOICE_H
#define SWITCHBOARD_API_TEAM_LINE_CHOICE_H

#include "web/request.h"

enum { LINE_CHOICE_MOST = 100 };

#define LINES_FIELD                                                                                \
    {                                                                                              \
        .name = "lineIds", .type = FIELD_STRINGS, .may_be_null = true, .min = 1,                   \
        .max = LINE_CHOICE_MOST                                                                    \
    }

/* Reads `lineIds` as the store keeps lines; `*ids` NULL: all. What the caller does not have is an
 * issue. Returns 0, or -1 after failing the request. */
int line_choice_read(struct request *rq, struct issues *issues, const char **ids);

#endif
