/* Who asks, and what they may use (spec 5). */
#ifndef SWITCHBOARD_AUTH_H
#define SWITCHBOARD_AUTH_H

#include "api/state.h"

/* The authenticated caller of a protected route. */
struct caller {
    struct store *store;
    struct store_user user;
    struct store_line line; /* line_guard only: the line that `phoneNumberId` names */
};

/* A protected route: token, linked account, plan (spec 5.5). */
extern const struct guard token_guard;

/* A protected route that sends through a line: also `phoneNumberId` of the JSON body, which must
 * name a line of one of the caller's accounts (spec 5.6). */
extern const struct guard line_guard;

/* Finds the caller's line with this platform id into caller->line. Returns 0, or fails: 403 when it
 * is not the caller's or archived. */
int auth_choose_line(struct request *rq, const char *phone_number_id);

#endif
