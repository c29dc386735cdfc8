/* The invitations of the caller's workspace: the handlers below /v2/invitations. */
#ifndef SWITCHBOARD_API_TEAM_INVITATIONS_H
#define SWITCHBOARD_API_TEAM_INVITATIONS_H

#include "web/request.h"

extern const struct field invitations_fields[], invitations_accept_fields[];

int invitations_get(struct request *rq);
int invitations_post(struct request *rq);
int invitations_accept(struct request *rq);
int invitations_delete(struct request *rq);

#endif
