/* The members of the caller's workspace: the handlers below /v2/members. */
#ifndef SWITCHBOARD_API_TEAM_MEMBERS_H
#define SWITCHBOARD_API_TEAM_MEMBERS_H

#include "store/member.h"
#include "web/request.h"

/* The field of a role in a body. */
#define ROLE_FIELD .name = "role", .type = FIELD_STRING, .values = role_names

extern const struct field members_change_fields[];

int members_get(struct request *rq);
int members_patch(struct request *rq);
int members_delete(struct request *rq);
int members_post_link(struct request *rq);
int members_delete_factor(struct request *rq);

/* Fails the request with what a change of members was refused for: 403 or 409. Returns -1. */
int members_fail(struct request *rq, enum member_refusal refusal);

/* The field of the threads that a member sees. */
#define OWN_FIELD                                                                                  \
    { .name = "ownThreadsOnly", .type = FIELD_BOOLEAN }

/* Reads what the body says that a member with the role of `standing` shall see: without `has_lines`
 * its threads alone. An owner has all lines, an owner and an admin have all threads. Returns 0, or
 * -1 after failing the request. */
int members_read_limits(struct request *rq, bool has_lines, struct standing *standing);

#endif
