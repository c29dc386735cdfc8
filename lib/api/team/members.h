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

/* Reads the lines of the body for a member with this role; an owner has all. Returns 0, or -1 after
 * failing the request. */
int members_read_lines(struct request *rq, enum role role, const char **line_ids);

/* A new secret of a link: its text, whose SHA-256 is written to `hash`. */
const char *members_make_secret(struct request *rq, unsigned char hash[32]);

#endif
