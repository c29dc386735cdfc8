/* Invitations and scoped tokens of a workspace as JSON: in the API and in the output of the admin
 * CLI. Each function writes its members into the open object. */
#ifndef SWITCHBOARD_TEAM_JSON_H
#define SWITCHBOARD_TEAM_JSON_H

#include "base/json.h"
#include "store/invitation.h"
#include "store/scoped_token.h"

void team_json_invitation(struct json_writer *out, const struct store_invitation *invitation);

void team_json_token(struct json_writer *out, const struct store_scoped_token *token);

#endif
