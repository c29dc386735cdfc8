/* What a request leaves in the trail (store/deed.h): who acts, by which route, and the names of
 * the members that the body gives, never their values, and what the change says (trail_row.h). */
#ifndef SWITCHBOARD_REQUEST_TRAIL_H
#define SWITCHBOARD_REQUEST_TRAIL_H

#include "store/store.h"
#include "web/request.h"

/* Says who acts in the request from now on: the id (NULL: the user to whom the row belongs) and the
 * name, which live as long as the request.
 * The guards call it; a route without a caller, such as a login, does so itself. */
void trail_begin(struct request *rq, const char *actor, const char *actor_name);

/* Leaves the row in a transaction of its own, for a deed at the platform. Returns 0, or -1 after
 * failing the request. */
int trail_leave(struct request *rq, struct store *store, const char *object_id);

/* The same after the platform has carried out the request, which then cannot fail: a row that
 * cannot be written is logged. Does nothing if the row is left already, or none is to be. */
void trail_leave_after(struct request *rq, struct store *store, const char *object_id);

#endif
